#include "cli/doctor_noise.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/enabled_engine.h"
#include "cli/noise_study.h"

namespace hyperloom {
namespace {

constexpr int kLeastPairs = 3, kMostPairs = 500;
constexpr int kMostAttempts = 4;
constexpr double kDemoTime_s = 25 * 60;
constexpr const char* kSeed = "doctor";

class AaRun {
 public:
  AaRun(const EnabledEngine& engine, const fs::path& folder, int pairs, LoadLine& line)
      : engine_(engine), log_(folder / "aa.log"), pairs_(pairs), line_(line) {
    study_.governor = cpu_governor();
    study_.cores = engine.state.probe->machine.cores;
  }

  // Ends early on a stop, or when one pair stays void.
  NoiseStudy run() {
    for (int i = 0; i < pairs_ && !stop_flags().any; ++i) {
      bool done = false;
      for (int attempt = 0; attempt < kMostAttempts && !done && !stop_flags().any; ++attempt) done = pair(i);
      if (!done) {
        if (!stop_flags().any) line_.note(fmt::format("pair {} was void {} times: no more pairs", i + 1, kMostAttempts));
        break;
      }
    }
    return study_;
  }

 private:
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

  std::optional<AaLeg> one_leg(int index, const std::string& place) {
    const LegOrder order = engine_.leg_order(seed_from(std::string(kSeed) + "/" + std::to_string(index)));
    line_.say(fmt::format("pair {} of {}, {} leg", index + 1, pairs_, place));
    LegHooks hooks;
    hooks.stop_flag = &stop_flags().any;
    hooks.on_progress = [&](const LoadProgress& p) { line_.update(p); };
    const LegOutcome outcome = run_leg(engine_.pack, order, log_, hooks);
    if (stop_flags().any) return std::nullopt;
    if (const auto* failure = std::get_if<Failure>(&outcome))
      throw Error(ErrorKind::NotEnabled, "the stock engine failed in a leg: " + failure->text(), failure->first_move);
    const LegResult& leg = std::get<LegResult>(outcome);
    if (!leg.void_reasons.empty()) {
      study_.voids.push_back({leg.void_reasons.front()});
      line_.note("void: " + leg.void_reasons.front());
      return std::nullopt;
    }
    return AaLeg{std::log(leg.value), leg.load.completed, leg.load.window_s, leg.neighbours.foreign_cpu, leg.neighbours.steal};
  }

  const EnabledEngine& engine_;
  const fs::path log_;
  const int pairs_;
  LoadLine& line_;
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
  const NoiseStudy study = AaRun(engine, folder.path(), options.pairs, line).run();
  line.say("");
  std::printf("%s", to_text(study, workload.alpha, workload.comparisons, seed_from(kSeed)).c_str());
  if (stop_flags().any) return static_cast<int>(ErrorKind::Interrupted);
  return 0;
}

}  // namespace hyperloom
