// Headroom by direction. memory: bytes a token really moves x tokens/s / measured bandwidth; compute: FLOP/s /
// measured peak; host: share of time inside kernels; communication: 1 - share in barriers and collectives.
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
  double gain_ceiling = 0;             // no configuration with these weights can be faster than this ratio; 0 = unknown
};
void to_json(Json& json, const Roofline& roofline);
void from_json(const Json& json, Roofline& roofline);

struct MachineRoofs { double bandwidth_gb_s = 0, peak_gflop_s = 0; };

// `clients`: sequences decoded together share one read of the weights.
Roofline make_roofline(const ModelFacts& model, const MachineRoofs& roofs, const LoadSummary& load, double parallel_sequences,
                       const KernelTable& table, double weight_bytes_ratio = 1.0);

}  // namespace hyperloom
