#include "cli/doctor_noise.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/enabled_engine.h"
#include "cli/noise_study.h"
#include "os/event_loop.h"
#include "os/procfs.h"

namespace hyperloom {
namespace {

constexpr int kLeastPairs = 3, kMostPairs = 500;
constexpr int kMostAttempts = 4, kMostLost = 3;      // legs a pair may repeat; pairs in a row, and engine failures, that a run outlives
constexpr double kDemoTime_s = 25 * 60;
constexpr const char* kSeed = "doctor";

// Over half a second with nothing of ours running.
std::vector<std::string> busy_now() {
  constexpr auto kLook = std::chrono::milliseconds(500);
  constexpr double kWorthSaying = 0.2;     // cores
  const auto before = read_process_times();
  const double begun_s = EventLoop::now_s();
  std::this_thread::sleep_for(kLook);
  std::set<ProcessKey> ours;
  for (const ProcStat& stat : read_descendants(getpid())) ours.insert({stat.pid, stat.start_ticks});
  std::vector<std::string> lines;
  for (const NamedLoad& load : busiest(before, read_process_times(), ours, (EventLoop::now_s() - begun_s) * ticks_per_second()))
    if (load.cores >= kWorthSaying) lines.push_back(fmt::format("{} {:.1f} cores", load.name, load.cores));
  return lines;
}

class AaRun {
 public:
  AaRun(const EnabledEngine& engine, const fs::path& folder, int pairs, LoadLine& line)
      : engine_(engine), log_(folder / "aa.log"), pairs_(pairs), line_(line),
        memory_(host_memory(engine.state.probe->machine)) {
    study_.governor = cpu_governor();
    study_.cores = engine.state.probe->machine.cores;
    study_.numa_nodes = engine.state.probe->machine.numa_nodes;
    study_.pinned = engine.state.workload.cpus > 0 && engine.state.workload.cpus < study_.cores;
  }

  // A pair that stays void is left out. Ends early on a stop, on a host that spoils three pairs in a row, and on an
  // engine that fails three times: what was measured by then is kept.
  NoiseStudy run() {
    int lost = 0;
    for (int i = 0; i < pairs_ && goes_on(lost); ++i) {
      bool done = false;
      for (int attempt = 0; attempt < kMostAttempts && !done && goes_on(lost); ++attempt) done = pair(i);
      lost = done ? 0 : lost + 1;
      if (!done && !stop_flags().any) line_.note(fmt::format("pair {} was void {} times: left out", i + 1, kMostAttempts));
    }
    if (lost >= kMostLost) line_.note(fmt::format("{} pairs in a row stayed void: no more pairs", lost));
    return study_;
  }

 private:
  bool goes_on(int lost) const { return !stop_flags().any && lost < kMostLost && study_.failures.size() < kMostLost; }

  bool pair(int index) {
    const bool a_first = a_goes_first(kSeed, "aa", index);
    std::vector<AaLeg> both;
    for (const char* place : {"first", "second"}) {
      const auto leg = one_leg(index, place);
      if (!leg) return false;
      both.push_back(*leg);
    }
    study_.legs.insert(study_.legs.end(), both.begin(), both.end());
    const double d = a_first ? both[1].log_value - both[0].log_value : both[0].log_value - both[1].log_value;
    study_.differences.push_back(d);
    line_.note(fmt::format("pair {:<3} ({})  {:>10.2f} {:>10.2f} {}   {:+.2f} %", index + 1, a_first ? "AB" : "BA", std::exp(both[0].log_value),
                           std::exp(both[1].log_value), objective_unit(engine_.state.workload.objective), 100 * std::expm1(d)));
    return true;
  }

  // Nothing for a leg that is no evidence; the study then says why.
  std::optional<AaLeg> one_leg(int index, const std::string& place) {
    const LegOrder order = engine_.leg_order(seed_from(std::string(kSeed) + "/" + std::to_string(index)));
    line_.say(fmt::format("pair {} of {}, {} leg", index + 1, pairs_, place));
    LegHooks hooks;
    hooks.stop_flag = &stop_flags().any;
    hooks.on_progress = [&](const LoadProgress& p) { line_.update(p); };
    const LegOutcome outcome = run_leg(engine_.pack, order, log_, hooks);
    if (stop_flags().any) return std::nullopt;
    if (const auto* failure = std::get_if<Failure>(&outcome)) {
      study_.failures.push_back(failure->text() + (failure->first_move.empty() ? "" : "; " + failure->first_move));
      line_.note("the stock engine failed in a leg: " + study_.failures.back());
      return std::nullopt;
    }
    const LegResult& leg = std::get<LegResult>(outcome);
    if (leg.neighbours.seconds > 0) memory_.remember(host_leg(leg.neighbours));
    if (!leg.void_reasons.empty()) {
      study_.voids.push_back({join(leg.void_reasons, "; "), leg.neighbours});
      line_.note("void: " + join(leg.void_reasons, "; "));
      return std::nullopt;
    }
    return AaLeg{std::log(leg.value), leg.load.completed, leg.load.window_s, leg.neighbours.foreign_cpu, leg.neighbours.steal,
                 leg.neighbours};
  }

  const EnabledEngine& engine_;
  const fs::path log_;
  const int pairs_;
  LoadLine& line_;
  HostMemory memory_;
  NoiseStudy study_;
};

}  // namespace

int doctor_noise(const DoctorOptions& options) {
  if (options.pairs < kLeastPairs || options.pairs > kMostPairs)
    throw bad_input(fmt::format("--pairs {} is outside {} to {}", options.pairs, kLeastPairs, kMostPairs), "8 is a good start");
  const Workload workload = options.workload.empty() ? demo_workload({}, kDemoTime_s) : checked_workload(options.workload);
  const TempDir folder("hyperloom-doctor");
  LoadLine line;
  const EnabledEngine engine = enable_engine(workload, folder.path(), line);
  line.note(fmt::format("A/A: {} pairs of boots of {}, {} requests a leg; about {}", options.pairs, engine.state.enabled->build,
                        engine.state.enabled->leg_requests, format_duration(2.0 * options.pairs * (engine.window_s() + 5))));
  NoiseStudy study = AaRun(engine, folder.path(), options.pairs, line).run();
  study.busy_now = busy_now();
  if (study.differences.size() >= NoisePool::kMostEarlier)
    host_memory(engine.state.probe->machine)
        .remember_noise(noise_key(workload, engine.state.probe->model.sha256),
                        {engine.state.enabled->leg_requests, study.differences});
  if (!options.save_legs.empty()) write_file(options.save_legs, to_json_lines(study));
  line.say("");
  if (options.json)
    std::printf("%s\n", to_json_value(study, workload.alpha, workload.comparisons, seed_from(kSeed))
                            .dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    std::printf("%s", to_text(study, workload.alpha, workload.comparisons, seed_from(kSeed)).c_str());
  if (stop_flags().any) return static_cast<int>(ErrorKind::Interrupted);
  if (study.failures.size() >= kMostLost)
    throw Error(ErrorKind::NotEnabled, "the stock engine failed in " + std::to_string(study.failures.size()) + " legs: " + study.failures.back(),
                "the figures above are of the legs before");
  return 0;
}

}  // namespace hyperloom
