// The closed vocabularies of the workload file, shared by its readers and writers.
#pragma once

#include <string>
#include <vector>

#include "workload/workload.h"

namespace hyperloom {

inline const char* name_of(Arrival::Process process) {
  return process == Arrival::Process::Poisson ? "poisson" : process == Arrival::Process::Constant ? "constant" : "gamma";
}
inline const char* name_of(Traffic::Api api) {
  return api == Traffic::Api::Chat ? "chat" : "completions";
}

inline const std::vector<std::string>& ramp_names() {
  static const std::vector<std::string> names = {"linear", "exponential"};
  return names;
}
inline const std::vector<std::string>& objective_names() {
  static const std::vector<std::string> names = {"output_tok_s", "total_tok_s", "requests_s",
                                                 "ttft",         "tpot",        "e2e"};
  return names;
}
inline const std::vector<std::string>& limit_metrics() {
  static const std::vector<std::string> names = {"ttft", "tpot", "itl", "e2e"};
  return names;
}
inline const std::vector<std::string>& touch_names() {
  static const std::vector<std::string> names = {"flags", "env",    "precision",
                                                 "build", "source", "kernels"};
  return names;
}

}  // namespace hyperloom
