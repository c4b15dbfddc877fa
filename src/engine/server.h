// A running server of ours: launched, proven ready by a real completion from our own process, read back, stopped,
// proven gone. Failures are values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "engine/failure.h"
#include "engine/pack.h"
#include "os/child.h"

namespace hyperloom {

struct LaunchSpec {
  std::vector<std::string> argv;                        // complete, but for ${port}
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> expected;          // knob -> value that must be read back (engine/pack.h effective)
  std::string api = "chat";                             // which completion proves readiness
};

class Server {
 public:
  using OnStarted = std::function<void(const ProcessHandle&, int port)>;   // before anything is sent to it: journal it
  // `log` receives its output. `on_started` runs right after spawn.
  static std::variant<std::unique_ptr<Server>, Failure> start(const Pack& pack, const LaunchSpec& spec,
                                                              const std::filesystem::path& log, const OnStarted& on_started = {},
                                                              const volatile bool* stop_flag = nullptr);
  ~Server();
  std::string url() const;                              // http://127.0.0.1:PORT
  int port() const;
  double boot_s() const;
  Child& child();
  const std::map<std::string, std::string>& effective() const;   // what the engine says it runs with
  std::optional<Failure> died();                        // alive = nothing
  std::map<std::string, double> metrics();              // ours -> value now; absent = not there

  struct Gone { bool clean = true; bool forced = false; ExitStatus status; std::string problem; };
  Gone stop();                                          // port free, children gone, or says what is left

 private:
  Server();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Flags that the installed build's help text shows ("-np", "--parallel", ...).
std::set<std::string> flags_in_help(const std::string& help_text);

// Prometheus text: name -> value summed over label sets, but histogram buckets apart as NAME_bucket{le="0.1"}; NaN
// samples are skipped, the rest survives.
std::map<std::string, double> parse_prometheus(const std::string& text);

// A counter by its name with or without `_total`; nothing when neither is there.
std::optional<double> sample_of(const std::map<std::string, double>& samples, const std::string& name);

// What happened between two scrapes: counters as differences, the rest as it is now. `restarted`: a counter fell or the
// process start time changed, so the run in between is invalid.
struct MetricsDelta { bool restarted = false; std::map<std::string, double> values; };
MetricsDelta metrics_between(const std::map<std::string, double>& before, const std::map<std::string, double>& after);

}  // namespace hyperloom
