// The workload file: what is served, by what, where, under which traffic, to which end (docs/formats.md).
// Every error names file:line, the field, and the mend; unknown keys are errors with the nearest known name.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "workload/traffic.h"

namespace hyperloom {

struct Limit { std::string metric; double percentile = 0, max_ms = 0; };   // metric: ttft | tpot | itl | e2e

struct Objective {
  std::string maximize = "output_tok_s";        // output_tok_s | total_tok_s | requests_s | ttft | tpot | e2e (latencies: p50, smaller is better)
  bool per_gpu = false;
  std::vector<Limit> limits;
  double least_gain = 0.005;                    // share: 0.005 = 0.5 %
  double least_gain_log() const { return std::log1p(least_gain); }
};

struct QualityLimits {
  double kl_mean_max = 0.02, ppl_ratio_max = 1.01, top1_min = 0.95;
  std::string waived;                           // a reason; then quality is reported, not enforced
};

// What may be changed: false, true, or an allow list of knob names.
struct Permission { bool allowed = true; std::vector<std::string> only; bool permits(const std::string& knob) const; };

struct Workload {
  std::filesystem::path file;                   // where it was read from; empty when made in memory
  std::filesystem::path model_path;
  std::string engine_pack = "llama.cpp", engine_version;
  std::vector<std::string> engine_command;      // a user's own server binary (and wrapper); empty = the pack builds or finds it
  std::vector<std::string> engine_argv;         // the user's own stock flags
  std::map<std::string, std::string> engine_env;
  int cpus = 0;                                 // 0 = all
  Traffic traffic;
  Objective objective;
  QualityLimits quality;
  double time_s = 0, build_s = 1800;
  std::map<std::string, Permission> touch;      // flags, env, precision, build, source, kernels
  double alpha = 0.05;
  int comparisons = 20;

  bool may_touch(const std::string& kind, const std::string& knob) const;
  std::string canonical() const;                // canonical JSON without `file`; its SHA-256 is workload_sha256
};

Workload parse_workload(const std::string& yaml, const std::filesystem::path& file);   // relative paths are the file's
Workload load_workload(const std::filesystem::path& file);
std::string write_workload(const Workload& workload);          // commented YAML; parses back to the same canonical()
Json to_json_value(const Workload& workload);                  // for session.opened
Workload workload_from_json(const Json& json);

}  // namespace hyperloom
