#include "candidate/facts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/files.h"
#include "base/text.h"
#include "candidate/user_flags.h"
#include "engine/pack_knobs.h"

namespace hyperloom {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kTemplateTokens = 64;   // what a chat template adds to a prompt
constexpr double kSlotStep = 256;

void add_machine(const MachineFacts& machine, const Workload& workload, Facts& facts) {
  for (const std::string& flag : machine.cpu_flags) facts["machine." + flag] = 1.0;
  const int cores = workload.cpus > 0 ? std::min(workload.cpus, machine.cores) : machine.cores;
  facts["machine.cores"] = static_cast<double>(cores);
  facts["machine.numa_nodes"] = static_cast<double>(machine.numa_nodes);
  facts["machine.memory_gib"] = static_cast<double>(machine.memory_bytes) / kGib;
  facts["machine.l2_mib"] = static_cast<double>(machine.l2_bytes) / (1 << 20);
  facts["machine.l3_mib"] = static_cast<double>(machine.l3_bytes) / (1 << 20);
  facts["machine.gpus"] = static_cast<double>(machine.gpus.size());
  facts["machine.bits"] = static_cast<double>(sizeof(void*) * 8);
  facts["machine.cpu_vendor"] = machine.cpu_vendor;
  if (!machine.gpus.empty()) {
    facts["machine.gpu_vendor"] = machine.gpus[0].vendor;
    facts["machine.gpu_memory_gib"] = machine.gpus[0].memory_gib;
  }
  for (const auto& [tool, value] : machine.tools) facts["machine." + tool] = value;
}

// Room for all but the rarest request: three standard deviations of its log-normal length.
double generous(const Spread& spread) { return spread.mean * (1 + 3 * spread.cv); }

void add_traffic(const Traffic& traffic, Facts& facts) {
  const bool closed = traffic.kind == Traffic::Kind::Closed;
  facts["traffic.kind"] = std::string(closed ? "closed" : "poisson");
  facts["traffic.api"] = std::string(traffic.api == Traffic::Api::Chat ? "chat" : "completions");
  if (traffic.clients > 0) facts["traffic.clients"] = static_cast<double>(traffic.clients);
  if (traffic.rate_rps > 0) facts["traffic.rate_rps"] = traffic.rate_rps;
  facts["traffic.shared_prefix_tokens"] = static_cast<double>(traffic.shared_prefix_tokens);
  facts["traffic.output_tokens"] = traffic.output_tokens.mean;
  if (traffic.prompt_tokens.mean <= 0) return;   // a data set: lengths are not known here
  facts["traffic.prompt_tokens"] = traffic.prompt_tokens.mean;
  const double longest = traffic.longest_tokens > 0 ? traffic.longest_tokens : generous(traffic.prompt_tokens) + generous(traffic.output_tokens);
  const double turns = traffic.turns.mean > 0 ? generous(traffic.turns) : 1;
  const double need = longest * turns + traffic.shared_prefix_tokens + kTemplateTokens;
  facts["traffic.slot_tokens"] = std::ceil(need / kSlotStep) * kSlotStep;
}

void add_knob(const Knob& knob, const Workload& workload, const Candidate& candidate, Facts& facts) {
  std::optional<std::string> value;
  if (const Change* change = candidate.find(knob.name)) {
    value = change->value;
  } else if (knob.kind == "env") {
    const auto found = workload.engine_env.find(knob.name);
    if (found != workload.engine_env.end()) value = found->second;
  } else if (knob.kind == "flag") {
    value = user_value(knob, workload.engine_argv);
  }
  if (value) {
    facts["knob." + knob.name] = value_of(*value);
  } else if (is_expression(knob.stock)) {
    if (const auto stock = evaluate(knob.stock, facts)) facts["knob." + knob.name] = *stock;
  } else if (knob.has_stock()) {
    facts["knob." + knob.name] = value_of(knob.stock);
  }
}

}  // namespace

Facts gather_facts(const Pack& pack, const ModelFacts& model, const MachineFacts& machine, const Workload& workload,
                   const Candidate& candidate) {
  Facts facts = model.facts();
  add_machine(machine, workload, facts);
  add_traffic(workload.traffic, facts);
  for (const Knob& knob : pack.knobs) add_knob(knob, workload, candidate, facts);
  return facts;
}

Clang find_clang() {
  Clang best;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, problem)) {
      const std::string name = entry.path().filename().string();
      if (!starts_with(name, "clang-")) continue;
      const Value version = value_of(name.substr(6));
      const double* number = std::get_if<double>(&version);
      if (number == nullptr || *number != std::floor(*number) || *number <= best.version) continue;
      if (!fs::exists(entry.path().parent_path() / ("clang++-" + name.substr(6)))) continue;
      best = Clang{name, "clang++-" + name.substr(6), static_cast<int>(*number)};
    }
  }
  return best;
}

std::map<std::string, double> find_tools() {
  std::map<std::string, double> tools;
  if (const int version = find_clang().version; version > 0) {
    tools["clang"] = version;
    tools["has_clang"] = 1;
  }
  for (const char* header : {"/usr/include/openblas/cblas.h", "/usr/include/x86_64-linux-gnu/openblas-pthread/cblas.h",
                             "/usr/include/aarch64-linux-gnu/openblas-pthread/cblas.h"}) {
    if (fs::exists(header)) tools["openblas"] = 1;
  }
  return tools;
}

}  // namespace hyperloom
