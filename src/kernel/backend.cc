#include "kernel/backend.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "kernel/bundle.h"
#include "kernel/event_tail.h"
#include "kernel/result.h"
#include "kernel/sandbox.h"
#include "kernel/toolchain.h"
#include "os/child.h"

namespace hyperloom {
namespace {

constexpr double kPoll = 0.05;     // seconds between looks at the child
constexpr double kTreeLook = 1;    // seconds between looks at what it has written
constexpr int kMostRubbish = 100;  // lines of stdout that are no events

double now_s() { return SystemClock().mono_s(); }

double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

BackendOutcome outcome(const char* status, const std::string& reason) {
  BackendOutcome made;
  made.status = status;
  made.reason = reason;
  return made;
}

// One conversation with one backend program.
class Conversation {
 public:
  Conversation(std::vector<std::string> argv, const KernelTask& task, const fs::path& work_dir,
               const volatile bool* stop_flag, const BackendLimits& limits)
      : argv_(std::move(argv)),
        task_(task),
        limits_(limits),
        stop_flag_(stop_flag),
        bundle_(work_dir / "bundle"),
        out_(work_dir / "out"),
        events_(work_dir / "events.jsonl"),
        errors_(work_dir / "stderr.log"),
        capabilities_(work_dir / "capabilities.json"),
        walled_(limits.sandbox && sandbox_problem().empty()) {}

  BackendOutcome hold() {
    for (const fs::path& path : {bundle_, out_, events_, errors_, capabilities_}) remove_tree(path);
    make_folders(out_);
    if (const auto refused = handshake()) return *refused;
    const Toolchain toolchain = probe_toolchain(compilers_of(offered_recipes(task_)));
    deadline_ = now_s() + task_.deadline_s;
    write_bundle(bundle_, task_, limits_, unix_now_s() + task_.deadline_s, toolchain);
    return run();
  }

 private:
  bool stopping() const { return stop_flag_ && *stop_flag_; }

  std::unique_ptr<Child> launch(const std::vector<std::string>& arguments, const fs::path& output,
                                bool may_write, double cpu_s, uint64_t file_bytes) const {
    SandboxSpec box;
    if (may_write) box.writable = out_;
    box.readable = {bundle_};
    box.errors = errors_;
    box.cpu_s = cpu_s;
    box.file_bytes = file_bytes;
    std::vector<std::string> words = argv_;
    words.insert(words.end(), arguments.begin(), arguments.end());
    if (!may_write) box.readable.clear();
    ChildSpec spec;
    spec.argv = sandboxed(words, box, walled_);
    spec.output = output;
#if !defined(__SANITIZE_ADDRESS__)  // a sanitized build of our own backend reserves terabytes of
                                    // address space
    spec.memory_limit_bytes = limits_.memory_bytes;
#endif
    if (may_write)
      spec.env = {{"HOME", out_.string()}, {"XDG_CACHE_HOME", (out_ / "cache").string()}};
    return Child::spawn(spec);
  }

  // Nothing when the backend speaks our protocol and takes this lane with this budget.
  std::optional<BackendOutcome> handshake() const {
    const double limit = now_s() + limits_.handshake_s;
    const auto child =
        launch({"--capabilities"}, capabilities_, false, limits_.handshake_s + 1, 1 << 20);
    std::optional<ExitStatus> ended;
    while (!(ended = child->wait(kPoll)) && now_s() < limit && !stopping()) {
    }
    if (stopping()) return outcome("infra_error", "stopped by the user");
    if (!ended) {
      child->stop(0);
      return outcome("stalled",
                     "--capabilities: no answer within " + format_duration(limits_.handshake_s));
    }
    if (!ended->ok()) return outcome("crashed", "--capabilities: " + ended->text() + last_error());
    const Json json = Json::parse(read_file(capabilities_), nullptr, false);
    const auto list = [&json](const char* key) {
      return json.is_object() && json.contains(key) && json[key].is_array() ? json[key]
                                                                            : Json::array();
    };
    bool speaks = false, lane = false;
    std::string versions;
    for (const Json& version :
         list("protocol_versions")) {  // 1, "1" or "1.4": the major number counts
      const std::string text = version.is_string() ? version.get<std::string>() : version.dump();
      speaks = speaks || split(text, '.').front() == std::to_string(kBackendProtocol);
      versions += (versions.empty() ? "" : ", ") + printable(text, 20);
    }
    if (!speaks)
      return outcome("invalid_task", "protocol: the backend speaks " +
                                         (versions.empty() ? "none" : versions) + ", we speak " +
                                         std::to_string(kBackendProtocol) +
                                         "; bring a backend of that protocol");
    for (const Json& name : list("lanes")) lane = lane || name == task_.lane;
    if (!lane) return outcome("invalid_task", "lane: the backend has no lane `" + task_.lane + "`");
    const Json least = json.value("min_budget_s", Json(0));
    if (least.is_number() && least.get<double>() > task_.deadline_s)
      return outcome("infra_error", "budget: the backend needs " +
                                        format_duration(least.get<double>()) + ", " +
                                        format_duration(task_.deadline_s) + " are left");
    return std::nullopt;
  }

  BackendOutcome run() {
    const double cpu_s =
        (task_.deadline_s + limits_.grace_s) * std::max(1, task_.machine.cores) + 1;
    const auto child =
        launch({bundle_.string(), out_.string()}, events_, true, cpu_s, limits_.output_bytes);
    EventTail tail(events_);
    double heard = now_s(), looked = heard;
    while (true) {
      const auto ended = child->wait(kPoll);
      if (tail.read() > 0) heard = now_s();
      if (tail.bytes() >= limits_.output_bytes)
        return end(*child, outcome("bad_output",
                                   "stdout: more than " +
                                       format_bytes(static_cast<double>(limits_.output_bytes))));
      if (tail.rubbish() > kMostRubbish)
        return end(*child, outcome("bad_output", "stdout: not JSON lines, the first is `" +
                                                     tail.first_rubbish() + "`"));
      if (ended) {
        child->stop(0);  // whatever it left running
        return judge(*ended);
      }
      if (stopping()) return end(*child, outcome("infra_error", "stopped by the user"));
      if (now_s() > deadline_ + limits_.grace_s) return late(*child);
      if (now_s() - heard > limits_.silence_s)
        return end(*child,
                   outcome("stalled", "no event for " + format_duration(limits_.silence_s) +
                                          (tail.last_message().empty()
                                               ? ""
                                               : "; the last was `" + tail.last_message() + "`")));
      if (now_s() - looked < kTreeLook) continue;
      looked = now_s();
      if (const std::string breach = tree_breach(out_, limits_); !breach.empty())
        return end(*child, outcome("bad_output", breach));
    }
  }

  static BackendOutcome end(Child& child, BackendOutcome made) {
    child.stop(0);
    return made;
  }

  // Past the deadline a result that was already complete still counts: it was renamed into place.
  BackendOutcome late(Child& child) {
    child.stop(0);
    BackendOutcome result = results();
    if (result.status == "bad_output")
      return outcome("stalled", "still running at its deadline, and " + result.reason);
    result.reason += (result.reason.empty() ? "" : "; ") + std::string("stopped at its deadline");
    return result;
  }

  BackendOutcome judge(const ExitStatus& status) const {
    if (status.ok()) return results();
    const std::string how = status.text() + last_error();
    if (status.signal == 0 && status.code == 2) return outcome("invalid_task", how);
    if (status.signal == 0 && status.code == 3) return outcome("infra_error", how);
    if (status.signal == 0 && status.code == 4)
      return outcome("infra_error", "budget too small: " + how);
    return outcome("crashed", how);
  }

  BackendOutcome results() const {
    if (const std::string damage = bundle_damage(bundle_); !damage.empty())
      return outcome("bad_output", "bundle: " + damage);
    ResultRules rules;
    rules.task_id = task_.task_id;
    rules.nonce = task_.nonce;
    for (const BuildRecipe& recipe : offered_recipes(task_)) rules.recipes.push_back(recipe.id);
    rules.current_build = task_.current_build;
    rules.failed_builds = task_.failed_builds;
    rules.candidates = limits_.candidates;
    return read_result(out_, rules, limits_);
  }

  std::string last_error() const {
    std::error_code missing;
    if (!fs::is_regular_file(errors_, missing) ||
        fs::file_size(errors_, missing) > limits_.output_bytes)
      return "";
    const auto lines = clean_log_lines(read_file(errors_), 300);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
      if (!trim(*line).empty()) return ": " + printable(trim(*line), 300);
    return "";
  }

  const std::vector<std::string> argv_;
  const KernelTask& task_;
  const BackendLimits& limits_;
  const volatile bool* stop_flag_;
  const fs::path bundle_, out_, events_, errors_, capabilities_;
  const bool walled_;
  double deadline_ = 0;
};

}  // namespace

BackendOutcome run_backend(const std::vector<std::string>& backend_argv, const KernelTask& task,
                           const fs::path& work_dir, const volatile bool* stop_flag,
                           const BackendLimits& limits) {
  if (backend_argv.empty() || !task.pack)
    throw internal_error("a kernel backend needs a command and a pack");
  const double start = now_s();
  std::vector<std::string> argv = backend_argv;
  BackendOutcome made;
  if (const auto program = find_program(argv[0])) {
    argv[0] = *program;
    make_folders(work_dir);
    made = Conversation(argv, task, fs::canonical(work_dir), stop_flag, limits).hold();
  } else {
    made = outcome("infra_error",
                   "backend program `" + argv[0] +
                       "` is not there or may not be run; give its path or put it on PATH");
  }
  if (const std::string problem = limits.sandbox ? sandbox_problem() : "switched off";
      !problem.empty())
    made.reason +=
        (made.reason.empty() ? "" : "; ") + ("no sandbox, resource limits only: " + problem);
  made.seconds = now_s() - start;
  return made;
}

}  // namespace hyperloom
