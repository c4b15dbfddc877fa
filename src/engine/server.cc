#include "engine/server.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "engine/readback.h"
#include "engine/readiness.h"
#include "net/http.h"

namespace hyperloom {
namespace {

constexpr double kPollS = 0.05;
constexpr double kHealthTimeoutS = 3;
constexpr double kCompletionTimeoutS = 300;    // a first completion may compile for minutes
constexpr double kRefusalLimitS = 15;          // the same 4xx for that long will not change any more
constexpr double kPortFreeLimitS = 5;
constexpr int kForeignLooks = 3;               // a listener that is just being forked is nobody's for a moment
constexpr size_t kLogTail = 4 << 20;

void pause() { std::this_thread::sleep_for(std::chrono::duration<double>(kPollS)); }

std::string tail_of(const fs::path& log) {
  std::error_code problem;
  if (!fs::exists(log, problem)) return "";
  std::string text = read_file(log);
  if (text.size() > 2 * kLogTail) text.erase(kLogTail, text.size() - 2 * kLogTail);   // boot and death
  return text;
}

// A port that the user's own command fixes ("--port 8000", "--port=8000"), or 0.
int fixed_port(const std::vector<std::string>& argv) {
  for (size_t i = 0; i < argv.size(); ++i) {
    if (argv[i] == "--port" && i + 1 < argv.size()) return std::atoi(argv[i + 1].c_str());
    if (starts_with(argv[i], "--port=")) return std::atoi(argv[i].c_str() + 7);
  }
  return 0;
}

bool uses_port(const LaunchSpec& spec) {
  const auto has = [](const std::string& text) { return text.find("${port}") != std::string::npos; };
  return std::any_of(spec.argv.begin(), spec.argv.end(), has) ||
         std::any_of(spec.env.begin(), spec.env.end(), [&](const auto& entry) { return has(entry.second); });
}

Failure foreign(int port, const Listener& listener) {
  const std::string who = listener.pid > 0 ? "pid " + std::to_string(listener.pid) : "a process that is hidden from us";
  return {"foreign_server", "foreign_server", "port " + std::to_string(port) + " is served by " + who + ", not by our server",
          "none", "stop that process yourself or let hyperloom choose the port (${port}); it was neither touched nor measured"};
}

}  // namespace

struct Server::Impl {
  const Pack& pack;
  int port = 0;
  double boot_s = 0;
  double started_s = 0;
  SystemClock clock;
  fs::path log;
  std::unique_ptr<Child> child;
  std::map<std::string, std::string> effective;
  std::optional<Gone> gone;
  int foreign_looks = 0;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port); }

  // Whether the listener on our port is ours. A foreign one is a failure once it has been seen several times.
  enum class Owner { Nobody, Ours, Foreign };
  Owner owner(Listener& listener) {
    listener = port_listener(port);
    if (!listener.listening) return Owner::Nobody;
    const std::vector<pid_t> family = child->family();
    const bool ours = std::find(family.begin(), family.end(), listener.pid) != family.end();
    foreign_looks = ours ? 0 : foreign_looks + 1;
    if (ours) return Owner::Ours;
    return foreign_looks >= kForeignLooks ? Owner::Foreign : Owner::Nobody;
  }

  Failure classify_now(const std::optional<ExitStatus>& exit) const {
    return classify(pack, "launch", exit, tail_of(log));
  }

  // The answer, or nothing when the server died or we were told to stop meanwhile (then the child is stopped).
  std::optional<HttpResponse> ask(const HttpRequest& request, const volatile bool* stop_flag) {
    std::future<HttpResponse> answer = std::async(std::launch::async, [request] { return http_call(request); });
    while (answer.wait_for(std::chrono::duration<double>(kPollS)) != std::future_status::ready) {
      const bool told = stop_flag != nullptr && *stop_flag;
      if (!told && !child->poll()) continue;
      child->stop(0);            // breaks the connection, also one that a grandchild holds
      answer.wait();
      return std::nullopt;
    }
    return answer.get();
  }
};

namespace {

Failure interrupted() {
  return {"interrupted", "interrupted", "stopped by request while booting", "none", "resume the session"};
}

}  // namespace

std::variant<std::unique_ptr<Server>, Failure> Server::start(const Pack& pack, const LaunchSpec& spec,
                                                             const std::filesystem::path& log,
                                                             const OnStarted& on_started,
                                                             const volatile bool* stop_flag) {
  std::unique_ptr<Server> server(new Server);
  server->impl_.reset(new Impl{.pack = pack, .log = log});
  Impl& impl = *server->impl_;
  if (uses_port(spec)) {
    impl.port = free_port();
  } else if (impl.port = fixed_port(spec.argv); impl.port <= 0 || impl.port > 65535) {
    throw bad_input("launch command `" + join(spec.argv, " ") + "` holds neither ${port} nor --port N",
                    "write ${port} where the server's port belongs");
  }
  if (const Listener listener = port_listener(impl.port); listener.listening) {
    Failure failure = foreign(impl.port, listener);
    failure.failure_class = failure.id = "port_in_use";
    return failure;
  }
  const Variables variables = {{"port", std::to_string(impl.port)}};
  ChildSpec child;
  for (const std::string& argument : spec.argv) {
    child.argv.push_back(replace_all(argument, "${port}", variables.at("port")));
  }
  for (const auto& [name, value] : spec.env) child.env[name] = replace_all(value, "${port}", variables.at("port"));
  child.output = log;
  std::error_code problem;
  fs::remove(log, problem);      // an old log must not explain a new death
  impl.started_s = impl.clock.mono_s();
  impl.child = Child::spawn(child);
  if (on_started) on_started(impl.child->handle(), impl.port);

  std::string seen = "no answer yet", model;
  double refused_since = 0;
  while (true) {
    if (stop_flag != nullptr && *stop_flag) return interrupted();
    Listener listener;
    const Impl::Owner owner = impl.owner(listener);
    if (const auto exit = impl.child->poll()) {
      Failure failure = impl.classify_now(exit);
      if (owner != Impl::Owner::Nobody && failure.failure_class == "unknown") return foreign(impl.port, listener);
      return failure;
    }
    if (owner == Impl::Owner::Foreign) return foreign(impl.port, listener);
    const double now = impl.clock.mono_s();
    const double left = impl.started_s + pack.ready_timeout_s - now;
    if (left <= 0) {
      Failure failure = impl.classify_now(std::nullopt);
      if (failure.failure_class == "never_ready") failure.line = "after " + format_duration(pack.ready_timeout_s) + ": " + seen;
      return failure;
    }
    if (owner == Impl::Owner::Ours) {
      bool healthy = pack.health_path.empty();
      if (!healthy) {
        const auto health = impl.ask({.url = impl.url() + pack.health_path, .timeout_s = std::min(left, kHealthTimeoutS)}, stop_flag);
        if (!health) continue;
        healthy = health->ok();
        if (!healthy) seen = "GET " + pack.health_path + ": " + (health->status == 0 ? health->error : "HTTP " + std::to_string(health->status));
      }
      if (healthy) {
        if (model.empty() || model == "default") model = listed_model(impl.url());
        const auto answer = impl.ask(completion_request(impl.url(), spec.api, model, std::min(left, kCompletionTimeoutS)), stop_flag);
        if (!answer) continue;
        const Probe probe = judge_completion(pack, *answer);
        if (probe.ready) break;
        seen = probe.words;
        if (!probe.refused) refused_since = 0;
        if (probe.refused && refused_since == 0) refused_since = now;
        if (probe.refused && now - refused_since > kRefusalLimitS) {
          return Failure{"never_ready", "no_completion", seen, "flags", "it answers, but not to this API: check traffic.api and the model"};
        }
      }
    }
    pause();
  }
  impl.boot_s = impl.clock.mono_s() - impl.started_s;
  impl.effective = read_effective(pack, impl.url(), tail_of(log));
  if (const auto ignored = find_ignored(spec.expected, impl.effective)) return *ignored;
  return server;
}

Server::Server() = default;

Server::~Server() {
  if (impl_ != nullptr && impl_->child != nullptr && !impl_->gone) {
    try {
      stop();
    } catch (const std::exception&) {   // the child's own destructor still kills
    }
  }
}

std::string Server::url() const { return impl_->url(); }
int Server::port() const { return impl_->port; }
double Server::boot_s() const { return impl_->boot_s; }
Child& Server::child() { return *impl_->child; }
const std::map<std::string, std::string>& Server::effective() const { return impl_->effective; }

std::optional<Failure> Server::died() {
  const std::optional<ExitStatus> exit = impl_->child->poll();
  if (!exit) return std::nullopt;
  return classify(impl_->pack, "serving", exit, tail_of(impl_->log));
}

std::map<std::string, double> Server::metrics() {
  std::map<std::string, double> result;
  if (impl_->pack.metrics_path.empty()) return result;
  const HttpResponse response = http_call({.url = url() + impl_->pack.metrics_path, .timeout_s = 5});
  if (!response.ok()) return result;
  const std::map<std::string, double> samples = parse_prometheus(response.body);
  for (const auto& [ours, theirs] : impl_->pack.metrics) {
    if (const auto value = sample_of(samples, theirs)) result[ours] = *value;
  }
  if (const auto value = sample_of(samples, "process_start_time_seconds")) result["process_start_time_seconds"] = *value;
  return result;
}

Server::Gone Server::stop() {
  Impl& impl = *impl_;
  if (impl.gone) return *impl.gone;
  Gone gone;
  const Child::Stopped stopped = impl.child->stop(impl.pack.stop_grace_s, impl.pack.stop_signal);
  gone.status = stopped.status;
  gone.forced = stopped.forced;
  if (!stopped.children_gone) gone.problem = "processes of the server are still alive: ";
  for (const pid_t pid : stopped.children_gone ? std::vector<pid_t>() : impl.child->family()) {
    gone.problem += std::to_string(pid) + " ";
  }
  const double limit = impl.clock.mono_s() + kPortFreeLimitS;
  Listener listener = port_listener(impl.port);
  while (listener.listening && impl.clock.mono_s() < limit) {
    pause();
    listener = port_listener(impl.port);
  }
  if (listener.listening) {
    gone.problem += "port " + std::to_string(impl.port) + " is still listened to by pid " + std::to_string(listener.pid);
  }
  gone.clean = gone.problem.empty();
  impl.gone = gone;
  return gone;
}

}  // namespace hyperloom
