// Where sessions live, who runs one, and the commands that only look: status, stop, report.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "journal/journal.h"
#include "os/procfs.h"
#include "report/report.h"
#include "session/finish.h"

namespace hyperloom {
namespace {

fs::path sessions_root() { return data_root() / "sessions"; }

struct Opened { fs::path dir; SessionState state; };
Opened open_session(const std::string& name) {
  fs::path dir = find_session(name);
  JournalContents contents = read_journal(dir / "journal.hlj");
  if (!contents.notice.empty()) std::fprintf(stderr, "note: %s\n", contents.notice.c_str());
  return {dir, fold(contents.entries)};
}

}  // namespace

fs::path new_session_dir() {
  char stamp[32];
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
  char tail[8];
  std::snprintf(tail, sizeof tail, "-%04x", static_cast<unsigned>(std::random_device{}() & 0xffff));
  return sessions_root() / (std::string(stamp) + tail);
}

fs::path find_session(const std::string& name) {
  if (!name.empty() && fs::exists(fs::path(name) / "journal.hlj")) return fs::absolute(name).lexically_normal();
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(sessions_root(), none))
    if (fs::exists(entry.path() / "journal.hlj") && starts_with(entry.path().filename().string(), name)) found.push_back(entry.path());
  if (found.empty())
    throw bad_input(name.empty() ? "there is no session yet in " + sessions_root().string() : "no session `" + name + "` in " + sessions_root().string(),
                    "start one with `hyperloom run workload.yaml`, or give the path of a session folder");
  if (!name.empty() && found.size() > 1) throw bad_input("`" + name + "` names " + std::to_string(found.size()) + " sessions", "give more of the id");
  return *std::max_element(found.begin(), found.end());
}

SessionOwner session_owner(const fs::path& dir) { return {journal_holder(dir / "journal.hlj")}; }

int status_command(const std::string& name, bool json) {
  auto [dir, s] = open_session(name);
  pid_t owner = session_owner(dir).pid;
  std::string where = s.closed ? "closed" : owner ? "running" : s.stop_request.empty() ? "dead" : "stopped";
  if (json) {
    Json out{{"session", s.session}, {"path", dir.string()}, {"status", where}, {"phase", s.phase}, {"cycle", s.cycle},
             {"incumbent", s.incumbent.text()}, {"spent_s", s.spent_s}, {"left_s", s.left_s()}, {"legs", s.legs.size()}, {"voids", s.voids}};
    if (owner) out["pid"] = owner;
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
  }
  std::printf("session    %s (%s%s)\n", dir.c_str(), where.c_str(), owner ? (", pid " + std::to_string(owner)).c_str() : "");
  std::printf("phase      %s, cycle %d\n", s.phase.c_str(), s.cycle);
  std::printf("incumbent  %s\n", s.incumbent.text().c_str());
  std::printf("time       %s spent, %s left; %zu legs, %d void\n", format_duration(s.spent_s).c_str(),
              format_duration(std::max(0.0, s.left_s())).c_str(), s.legs.size(), s.voids);
  std::printf("\n%s", render_table(s).c_str());
  if (where == "dead" || where == "stopped") std::printf("\nGo on with: hyperloom resume %s\n", dir.c_str());
  return 0;
}

int stop_command(const std::string& name, bool close) {
  fs::path dir = find_session(name);
  pid_t owner = session_owner(dir).pid;
  if (!owner) {
    if (close && !read_journal(dir / "journal.hlj").entries.empty()) {
      // Nobody runs it: close it here and now.
      stop_flags().close = true;
      return run_session(dir, nullptr);
    }
    throw bad_input("no process runs session " + dir.string(), close ? "" : "`hyperloom stop --close` closes it from here");
  }
  // The pid is what the lock's note says; on a shared disk it may be another machine's number.
  if (!has_open(owner, dir / "journal.hlj"))
    throw bad_input("process " + std::to_string(owner) + " does not hold this session here",
                    "it runs in another container or on another machine: stop it there");
  if (kill(owner, close ? SIGUSR1 : SIGTERM) != 0) throw internal_error("process " + std::to_string(owner) + " cannot be signalled");
  std::printf("asked process %d to %s session %s\n", owner, close ? "close" : "stop", dir.c_str());
  return 0;
}

int report_command(const std::string& name) {
  auto [dir, s] = open_session(name);
  finish_session(load_pack(s.workload.engine_pack), s, dir, session_owner(dir).pid == 0);
  return 0;
}

}  // namespace hyperloom
