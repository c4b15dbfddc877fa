// run, resume, demo: one session in one folder, from whatever its journal holds to a report.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/enabled_engine.h"
#include "cli/terminal.h"
#include "report/report.h"
#include "session/coordinator.h"
#include "session/finish.h"
#include "session/quality_check.h"

namespace hyperloom {

namespace {

constexpr double kMostMinutes = 30 * 24 * 60;   // as budget.time_s of a workload file

// Absolute and without a slash at its end: the last part is the session's id.
fs::path session_folder(const fs::path& given) {
  const fs::path folder = fs::absolute(given).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

}  // namespace

int run_session(const fs::path& given, const Workload* fresh) {
  const fs::path session_dir = session_folder(given);
  Pack pack;
  if (fresh) pack = load_pack(fresh->engine_pack);   // an unknown one is refused before anything is made
  make_folders(session_dir);
  SystemClock clock;
  auto journal = Journal::open(session_dir / "journal.hlj", clock);
  if (fresh && !journal->contents().entries.empty())
    throw bad_input(session_dir.string() + " holds a session already", "continue it with `hyperloom resume " + session_dir.string() + "`");
  Terminal terminal;
  if (!journal->contents().notice.empty()) terminal.line("note: " + journal->contents().notice);

  if (!fresh) pack = load_pack(fold(journal->contents().entries).workload.engine_pack);
  Roles roles = built_in_roles();
  Rules rules{pack, roles};
  auto world = make_real_world({pack, session_dir, data_root() / "recipes.db", stop_flags(),
                                [&](const std::string& detail) { terminal.progress(detail); }});
  Coordinator coordinator(*journal, *world, rules,
                          {[&](const SessionState& s, const Entry& e) { terminal.entry(s, e); },
                           [&](const SessionState& s, const std::string& what) { terminal.work(s, what); }});
  if (fresh) {
    write_file(session_dir / "workload.yaml", write_workload(*fresh));
    coordinator.open(session_dir.filename().string(), *fresh);
  } else {
    coordinator.resume();
  }
  terminal.line("session " + session_dir.string());
  coordinator.run();
  terminal.clear();
  if (coordinator.state().closed) forget_base_logits(session_dir);
  return finish_session(pack, coordinator.state(), session_dir);
}

int run_command(const fs::path& file, const fs::path& session_dir) {
  Workload workload = checked_workload(file);
  return run_session(session_dir.empty() ? new_session_dir() : session_dir, &workload);
}

int resume_command(const std::string& session) { return run_session(find_session(session), nullptr); }

int demo_command(const DemoOptions& options) {
  if (!(options.minutes > 0 && options.minutes <= kMostMinutes))   // not nan either
    throw bad_input(fmt::format("--minutes {:g} is no budget", options.minutes), "give minutes from 4 to 43200 (30 days)");
  Workload workload = demo_workload(options.model.empty() ? fs::path() : fs::absolute(options.model), options.minutes * 60);
  return run_session(options.session_dir.empty() ? new_session_dir() : options.session_dir, &workload);
}

}  // namespace hyperloom
