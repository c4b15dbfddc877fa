// A session's report, made from the folded state alone: report.html (one self-contained file),
// report.md, summary.json (docs/summary.schema.json), launch.sh, the result table for the terminal,
// and the audit bundle.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/server.h"
#include "state/session_state.h"

namespace hyperloom {

struct ReportInputs {
  const SessionState& state;
  std::filesystem::path session_dir;
  // Exact argv and env; ${port} left in. best_launch: the incumbent while the session is open or
  // when it closed as improved, else stock.
  LaunchSpec stock_launch, best_launch;
  bool provisional = false;
  std::string stop_reason;  // inferred by the caller from the journal when the session is dead
};

Json make_summary(const ReportInputs& inputs);        // deterministic: same state, same bytes
std::string render_table(const SessionState& state);  // the terminal's result table
std::string render_markdown(const ReportInputs& inputs);
std::string render_html(const ReportInputs& inputs);
std::string render_launch_script(
    const ReportInputs& inputs);  // starts exactly best_launch; PORT from $1 or 8080

struct ReportFiles {
  std::filesystem::path html, markdown, summary, launch;
  std::filesystem::path bundle;  // empty when it could not be packed
  std::string notice;            // then why; else empty
};
// Writes all of them atomically into session_dir. The bundle is a .tar.gz of journal, blobs, report
// and launch script.
ReportFiles write_report(const ReportInputs& inputs);

// The words for `result` (docs/formats.md): improved | no_gain | not_enabled | limits_unmet |
// interrupted.
std::string result_of(const SessionState& state, bool provisional);
// The session's claim: fresh pairs, own-t; n = 0 when there are none.
Interval final_claim(const SessionState& state);

}  // namespace hyperloom
