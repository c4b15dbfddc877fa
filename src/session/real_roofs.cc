#include "session/real_roofs.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "os/child.h"
#include "os/machine.h"

namespace hyperloom {
namespace {

constexpr double kLimit_s = 60;   // two measurements of a second each

}  // namespace

MachineRoofs measure_roofs(uint64_t working_set_bytes, int threads) {
  const RunResult run = run_child(
      {.argv = {own_program().string(), "roofs", std::to_string(working_set_bytes), std::to_string(threads)}}, kLimit_s);
  const Json told = Json::parse(run.output, nullptr, false);
  if (!told.is_object()) return {};
  return {.bandwidth_gb_s = told.value("bandwidth_gb_s", 0.0), .peak_gflop_s = told.value("peak_gflop_s", 0.0)};
}

int roofs_main(const char* working_set_bytes, const char* threads) {
  const int count = std::atoi(threads);
  const Json told = {{"bandwidth_gb_s", measure_bandwidth_gb_s(std::strtoull(working_set_bytes, nullptr, 10), count)},
                     {"peak_gflop_s", measure_peak_gflop_s(count)}};
  return std::printf("%s\n", told.dump().c_str()) > 0 ? 0 : 1;
}

}  // namespace hyperloom
