// The workload's engine brought to answer, as a session's prelude does it: probe, fetch, build, ladder.
#pragma once

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/load_line.h"
#include "measure/leg.h"
#include "session/real_world.h"

namespace hyperloom {

struct EnabledEngine {
  Pack pack;
  SessionState state;                // state.enabled is set
  LaunchSpec launch;                 // stock
  // A full leg of stock under the workload's traffic, as a session sizes it.
  LegOrder leg_order(uint64_t trace_seed) const;
  double window_s() const;           // expected, of a full leg
};

// A workload file with all that can be known to be wrong before anything is fetched, built or booted: the file itself,
// its pack, a dataset's content, flags that fight the launch line.
Workload checked_workload(const std::filesystem::path& file);

// The workload that `hyperloom demo` runs; fetches its model when `model` is empty.
Workload demo_workload(const std::filesystem::path& model, double time_s);

// `folder`: for logs. Error(NotEnabled) when no rung of the ladder answers, Error(Interrupted) on a stop.
EnabledEngine enable_engine(const Workload& workload, const std::filesystem::path& folder, LoadLine& line);

}  // namespace hyperloom
