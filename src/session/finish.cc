#include "session/finish.h"

#include <cstdio>

#include "base/files.h"
#include "report/report.h"
#include "session/legs.h"
#include "session/real_world.h"

namespace hyperloom {
namespace {

// Why a session without a `closed` entry is where it is.
std::string inferred_reason(const SessionState& s, bool dead) {
  if (s.closed) return s.closed->stop_reason;
  if (!s.stop_request.empty()) return s.stop_request;
  return dead ? "killed" : "running";
}

}  // namespace

int finish_session(const Pack& pack, const SessionState& s, const fs::path& session_dir, bool dead) {
  ReportInputs inputs{.state = s, .session_dir = session_dir, .stock_launch = {}, .best_launch = {}, .provisional = !s.closed,
                      .stop_reason = inferred_reason(s, dead)};
  if (s.enabled) {
    inputs.stock_launch = launch_of(pack, s, s.enabled->stock, s.enabled->build);
    // A closed session recommends nothing that its fresh pairs do not prove.
    const Candidate& best = !s.closed || s.closed->result == "improved" ? s.incumbent : s.enabled->stock;
    inputs.best_launch = launch_of(pack, s, best, build_of(s, best));
  }
  ReportFiles files = write_report(inputs);
  std::printf("%s\n", render_table(s).c_str());
  std::printf("report   %s\n", files.html.c_str());
  if (s.enabled) std::printf("launch   %s\n", files.launch.c_str());
  std::printf("summary  %s\n", files.summary.c_str());
  if (!files.notice.empty()) std::printf("note     no bundle: %s\n", files.notice.c_str());
  if (!s.closed) {
    std::printf("The session is not closed (%s). Go on with: hyperloom resume %s\n", inputs.stop_reason.c_str(), session_dir.c_str());
    return 4;
  }
  return s.closed->result == "not_enabled" ? 3 : 0;
}

}  // namespace hyperloom
