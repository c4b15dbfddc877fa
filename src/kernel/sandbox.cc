#include "kernel/sandbox.h"

#include <cmath>

#include "base/files.h"
#include "base/text.h"
#include "kernel/toolchain.h"
#include "os/child.h"

namespace hyperloom {
namespace {

// The shell only lowers limits and takes stderr apart from stdout; where a limit is already lower,
// it stays.
constexpr const char* kLimiter =
    "ulimit -t \"$1\" 2>/dev/null; ulimit -f \"$2\" 2>/dev/null; ulimit -c 0 2>/dev/null; err=$3; "
    "shift 3; exec \"$@\" 2>>\"$err\"";

// /run is hidden because a socket there (a container daemon's, a bus) is a way out that a read-only
// mount leaves open.
// --cap-drop: without it root could mount the system writable again.
const std::vector<std::string> kWalls = {"--ro-bind",
                                         "/",
                                         "/",
                                         "--dev",
                                         "/dev",
                                         "--proc",
                                         "/proc",
                                         "--tmpfs",
                                         "/tmp",
                                         "--tmpfs",
                                         "/run",
                                         "--unshare-net",
                                         "--unshare-pid",
                                         "--unshare-ipc",
                                         "--unshare-uts",
                                         "--die-with-parent",
                                         "--cap-drop",
                                         "ALL"};

bool hidden(const fs::path& path) {
  const std::string text = path.string();
  return starts_with(text, "/tmp/") || starts_with(text, "/run/");
}

std::string try_bubblewrap() {
  const auto bwrap = find_program("bwrap");
  if (!bwrap) return "bwrap is not installed (package bubblewrap)";
  ChildSpec spec;
  spec.argv = {*bwrap};
  spec.argv.insert(spec.argv.end(), kWalls.begin(), kWalls.end());
  spec.argv.push_back("true");
  const RunResult run = run_child(spec, 10);
  if (run.timed_out) return "bwrap hangs";
  if (run.status.ok()) return "";
  const auto lines = clean_log_lines(run.output, 200);
  return "bwrap fails: " + (lines.empty() ? run.status.text() : trim(lines.front()));
}

}  // namespace

const std::string& sandbox_problem() {
  static const std::string problem = try_bubblewrap();
  return problem;
}

std::vector<std::string> sandboxed(const std::vector<std::string>& argv, const SandboxSpec& spec,
                                   bool bubblewrap) {
  constexpr double kBlock = 512;  // POSIX: the unit of ulimit -f
  std::vector<std::string> all = {"/bin/sh",
                                  "-c",
                                  kLimiter,
                                  "sandbox",
                                  std::to_string(static_cast<long>(std::ceil(spec.cpu_s))),
                                  std::to_string(static_cast<long>(spec.file_bytes / kBlock)),
                                  spec.errors.empty() ? "/dev/null" : spec.errors.string()};
  if (bubblewrap) {
    all.push_back("bwrap");
    all.insert(all.end(), kWalls.begin(), kWalls.end());
    const auto show = [&all](const char* how, const fs::path& path) {
      all.insert(all.end(), {how, path.string(), path.string()});
    };
    for (const fs::path& path : spec.readable)
      if (hidden(path)) show("--ro-bind", path);
    for (const std::string& word : argv) {
      std::error_code ignored;
      if (hidden(word) && fs::exists(word, ignored)) show("--ro-bind", word);
    }
    if (!spec.writable.empty()) {
      show("--bind", spec.writable);
      all.insert(all.end(), {"--chdir", spec.writable.string()});
    }
    all.push_back("--");
  }
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

}  // namespace hyperloom
