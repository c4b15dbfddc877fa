// Headroom by direction (docs/roofline.md has the sources). After S. Williams et al., "Roofline", CACM 2009:
//   memory         = (steps/s x step_bytes x ratio + KV bytes/s) / measured bandwidth
//                    steps/s = output tok/s / parallel sequences + requests/s x ceil(prompt tokens / 512)
//                    KV bytes/s = output tok/s x kv_bytes_per_token x (prompt + output / 2)
//   compute        = (2 x active parameters x tok/s + 4 x layers x heads x head_dim x context x tok/s) / measured peak
//   host           = share of samples inside kernels, of those not spent in barriers
//   communication  = 1 - share of samples in barriers and collectives
// An estimate, never a decision (L1): a saturation above 1 stays and carries a note.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/model_facts.h"
#include "load/metrics.h"
#include "profile/profile.h"

namespace hyperloom {

constexpr double kSaturation = 0.95;   // a direction at or above this share of its roof is closed

struct RoofPoint {
  Direction direction;
  double achieved = 0, roof = 0;       // GB/s, GFLOP/s, or shares
  double saturation = 0;               // achieved / roof
  std::string unit, note;
  bool open() const { return saturation < kSaturation; }
};

struct Roofline {
  std::vector<RoofPoint> points;       // only those that could be measured
  std::string bound;                   // the direction that is nearest to its roof
  // No configuration of these weights on this machine, in any precision or batching, raises *throughput* by more than
  // this ratio; 0 = unknown. Says nothing about latencies.
  double gain_ceiling = 0;
};
void to_json(Json& json, const Roofline& roofline);
void from_json(const Json& json, Roofline& roofline);

// Of the processors that serve; 0 = not measured. `narrow_factor`: how many times the fp32 peak the narrowest
// multipliers may reach. 32 = AMX int8, the most that a CPU known to us has.
struct MachineRoofs { double bandwidth_gb_s = 0, peak_gflop_s = 0, narrow_factor = 32; };
double narrow_factor(const std::vector<std::string>& cpu_flags);   // from /proc/cpuinfo's names

// `parallel_sequences`: sequences decoded together share one read of the weights. `weight_bytes_ratio`: bytes of the
// weights in use over those of `model`.
Roofline make_roofline(const ModelFacts& model, const MachineRoofs& roofs, const LoadSummary& load, double parallel_sequences,
                       const KernelTable& table, double weight_bytes_ratio = 1.0);

}  // namespace hyperloom
