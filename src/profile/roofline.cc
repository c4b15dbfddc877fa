#include "profile/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hyperloom {
namespace {

constexpr double kPrefillBatch = 512;        // tokens that one prefill pass takes: the usual micro-batch
constexpr double kLeastBitsPerWeight = 1.5;  // below the narrowest format in use (IQ1_S: 1.56 bits)
constexpr double kDraftTokens = 64;          // longest speculative draft checked in one pass
constexpr double kCacheSpeed = 4;            // how much faster than measured weights may come once they fit a cache

// What the run did a second, from its summary.
struct Rates {
  double output = 0, prompt = 0, requests = 0;          // tokens/s, tokens/s, requests/s
  double prompt_length = 0, output_length = 0;          // tokens a request, mean
  double in_flight = 0;                                 // requests, by Little's law; 0 = unknown
};

Rates rates_of(const LoadSummary& load) {
  Rates rates;
  rates.output = load.output_tok_s;
  rates.prompt = std::max(0.0, load.total_tok_s - load.output_tok_s);
  rates.requests = load.requests_s;
  if (rates.requests > 0) {
    rates.prompt_length = rates.prompt / rates.requests;
    rates.output_length = rates.output / rates.requests;
    rates.in_flight = rates.requests * load.e2e_ms.mean / 1000;
  }
  return rates;
}

// Parameters that one token multiplies: without the experts and embedding rows that a step does not read.
double active_parameters(const ModelFacts& model) {
  const double share = model.bytes > 0 && model.step_bytes > 0
                           ? std::min(1.0, static_cast<double>(model.step_bytes) / static_cast<double>(model.bytes))
                           : 1.0;
  return static_cast<double>(model.parameters) * share;
}

// A prompt's tokens but the last need no logits, hence no product with the output matrix.
double prompt_parameters(const ModelFacts& model) {
  const double output_matrix = static_cast<double>(model.vocabulary) * model.embedding;
  return std::max(0.0, active_parameters(model) - output_matrix);
}

double memory_gb_s(const ModelFacts& model, const Rates& rates, double sequences, double ratio) {
  const double decode_steps = rates.output / sequences;
  const double prefill_passes = rates.requests * std::ceil(rates.prompt_length / kPrefillBatch);
  const double weights = (decode_steps + prefill_passes) * static_cast<double>(model.step_bytes) * ratio;
  const double context = rates.prompt_length + rates.output_length / 2;
  const double cache = rates.output * static_cast<double>(model.kv_bytes_per_token) * context;
  return (weights + cache) / 1e9;
}

double compute_gflop_s(const ModelFacts& model, const Rates& rates) {
  const double products = 2 * (active_parameters(model) * rates.output + prompt_parameters(model) * rates.prompt);
  const double each = 4.0 * model.layers * model.heads * model.head_dim;   // query x key and score x value, a token of context
  const double attention = each * (rates.output * (rates.prompt_length + rates.output_length / 2) +
                                   rates.prompt * rates.prompt_length / 2);
  return (products + attention) / 1e9;
}

RoofPoint point(Direction direction, double achieved, double roof, const std::string& unit, const std::string& note) {
  return {direction, achieved, roof, roof > 0 ? achieved / roof : 0, unit, note};
}

RoofPoint memory_point(const ModelFacts& model, const Rates& rates, const MachineRoofs& roofs, double sequences, double ratio) {
  RoofPoint memory = point(Direction::Memory, memory_gb_s(model, rates, sequences, ratio), roofs.bandwidth_gb_s, "GB/s",
                           fmt::format("weights shared by {:.3g} sequences; KV cache counted at f16", sequences));
  if (memory.saturation > 1)
    memory.note += "; above the measured bandwidth: part of the weights comes from a cache, or fewer steps were run";
  return memory;
}

RoofPoint compute_point(const ModelFacts& model, const Rates& rates, const MachineRoofs& roofs) {
  RoofPoint compute = point(Direction::Compute, compute_gflop_s(model, rates), roofs.peak_gflop_s, "GFLOP/s",
                            "against the fp32 peak; prompts found in a prefix cache count as computed");
  if (compute.saturation > 1) {
    compute = point(Direction::Compute, compute.achieved, roofs.peak_gflop_s * roofs.narrow_factor, "GFLOP/s",
                    fmt::format("above the fp32 peak: narrow multipliers at work, roof taken as {:.3g} times it", roofs.narrow_factor));
    if (compute.saturation > 1) compute.note += "; above that too: prompts were not computed, or other processors serve";
  }
  return compute;
}

// True upper bounds only: every term that a knob could remove (KV traffic, prefill, attention, host work) is left out.
double gain_ceiling(const ModelFacts& model, const Rates& rates, const MachineRoofs& roofs, double sequences) {
  double ceiling = 0;
  const auto bound = [&](double best_output_tok_s) {
    const double ratio = best_output_tok_s / rates.output;
    if (std::isfinite(ratio) && ratio > 0) ceiling = ceiling > 0 ? std::min(ceiling, ratio) : ratio;
  };
  const double parameters = active_parameters(model);
  if (parameters > 0 && roofs.peak_gflop_s > 0)
    bound(roofs.peak_gflop_s * 1e9 * roofs.narrow_factor / (2 * parameters));
  if (parameters > 0 && roofs.bandwidth_gb_s > 0 && rates.in_flight > 0) {
    const double narrowest = parameters * kLeastBitsPerWeight / 8;
    const double least_bytes = std::min(static_cast<double>(model.step_bytes), narrowest);
    // A quarter more than the mean: in flight is an average over the window's ramps.
    const double together = std::ceil(std::max(sequences, 1.25 * rates.in_flight));
    if (least_bytes > 0) bound(roofs.bandwidth_gb_s * 1e9 * kCacheSpeed / least_bytes * together * kDraftTokens);
  }
  return ceiling < 1 ? 0 : ceiling;   // stock beyond a bound: the roofs are not those of the processors that serve
}

}  // namespace

double narrow_factor(const std::vector<std::string>& cpu_flags) {
  const auto has = [&](const char* flag) { return std::find(cpu_flags.begin(), cpu_flags.end(), flag) != cpu_flags.end(); };
  if (cpu_flags.empty()) return MachineRoofs{}.narrow_factor;
  if (has("amx_int8") || has("amx_tile")) return 32;
  // Arm: i8mm does 32 multiply-adds where fp32 does 4, on as many ports.
  if (has("i8mm") || has("svei8mm") || has("sme")) return has("sme") ? 32 : 8;
  return 4;   // one byte instead of four per lane: VNNI, dot products, maddubs
}

Roofline make_roofline(const ModelFacts& model, const MachineRoofs& roofs, const LoadSummary& load, double parallel_sequences,
                       const KernelTable& table, double weight_bytes_ratio) {
  Roofline roofline;
  const Rates rates = rates_of(load);
  const double sequences = std::isfinite(parallel_sequences) ? std::max(1.0, parallel_sequences) : 1.0;
  const double ratio = std::isfinite(weight_bytes_ratio) && weight_bytes_ratio > 0 ? weight_bytes_ratio : 1.0;
  const bool served = std::isfinite(rates.output) && rates.output > 0;
  if (served && roofs.bandwidth_gb_s > 0 && model.step_bytes > 0)
    roofline.points.push_back(memory_point(model, rates, roofs, sequences, ratio));
  if (served && roofs.peak_gflop_s > 0 && model.parameters > 0)
    roofline.points.push_back(compute_point(model, rates, roofs));
  if (!table.rows.empty()) {
    // Waiting is the communication direction's; counting it here too would close neither.
    const double working = table.kernel_share + table.host_share;
    // Without patterns that know this engine's kernels, "0 % in kernels" is ignorance, not headroom.
    if (table.kernel_share > 0)
      roofline.points.push_back(point(Direction::Host, table.kernel_share / working, 1, "share",
                                      "time in kernels, of the time not spent in barriers"));
    roofline.points.push_back(point(Direction::Communication, 1 - table.barrier_share, 1, "share",
                                    "time not spent in barriers and collectives"));
  }
  // Shares of time say how well the roofs' units are fed; what binds is what the hardware runs out of.
  double nearest = -1;
  for (const RoofPoint& p : roofline.points) {
    if (p.unit == "share" || p.saturation <= nearest) continue;
    nearest = p.saturation;
    roofline.bound = name_of(p.direction);
  }
  if (served) roofline.gain_ceiling = gain_ceiling(model, rates, roofs, sequences);
  return roofline;
}

void to_json(Json& json, const Roofline& roofline) {
  Json points = Json::array();
  for (const RoofPoint& p : roofline.points) {
    points.push_back({{"direction", name_of(p.direction)}, {"achieved", p.achieved}, {"roof", p.roof},
                      {"saturation", p.saturation}, {"unit", p.unit}, {"note", p.note}});
  }
  json = {{"points", points}};
  if (!roofline.bound.empty()) json["bound"] = roofline.bound;
  if (roofline.gain_ceiling > 0) json["gain_ceiling"] = roofline.gain_ceiling;
}

void from_json(const Json& json, Roofline& roofline) {
  roofline = {};
  for (const Json& p : json.value("points", Json::array())) {
    const std::string name = p.value("direction", "");
    const std::optional<Direction> direction = direction_from(name);
    if (!direction) throw bad_input("roofline: unknown direction `" + name + "`", "a newer hyperloom wrote this; use that one");
    roofline.points.push_back({*direction, p.value("achieved", 0.0), p.value("roof", 0.0), p.value("saturation", 0.0),
                               p.value("unit", ""), p.value("note", "")});
  }
  roofline.bound = json.value("bound", "");
  roofline.gain_ceiling = json.value("gain_ceiling", 0.0);
}

}  // namespace hyperloom
