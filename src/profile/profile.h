// Where the serving process spends its time: samples by symbol into one kernel table.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "engine/pack.h"

namespace hyperloom {

struct KernelRow {
  std::string symbol, module;
  double share = 0;               // of samples
  std::string group;              // matmul, attention, barrier, sampling, other: from the pack's symbol patterns
};

struct KernelTable {
  std::vector<KernelRow> rows;    // descending share
  int samples = 0;
  double kernel_share = 0, barrier_share = 0, host_share = 0;   // sum to 1
  std::string source;             // "perf", or "none: why"
};
void to_json(Json& json, const KernelTable& table);
void from_json(const Json& json, KernelTable& table);

// Samples `pid` and its threads for `seconds` with `perf record` (software clock when no hardware counter).
// Goes on without: an empty table whose `source` says why.
KernelTable profile_process(const Pack& pack, int pid, double seconds, const std::filesystem::path& work_dir);
KernelTable table_from_perf_script(const Pack& pack, const std::string& perf_report_text);

}  // namespace hyperloom
