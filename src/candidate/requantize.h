// Weights in another precision, made into the candidate's own folder (a cache keyed by model and value).
#pragma once

#include <filesystem>
#include <string>

#include "engine/pack.h"

namespace hyperloom {

struct RequantizeResult {
  bool ok = false;
  bool out_of_time = false;            // time or disk did not suffice: no evidence against the value
  std::filesystem::path model;
  std::string error;
  double seconds = 0;
  uint64_t bytes = 0;
};

// A file in the cache counts only when its header says that it is whole. What the tool fails at is a value.
RequantizeResult requantize(const Pack& pack, const std::filesystem::path& build, const std::filesystem::path& model,
                            const std::string& model_sha256, const std::string& value, double limit_s,
                            const volatile bool* stop_flag = nullptr);

}  // namespace hyperloom
