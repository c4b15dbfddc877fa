// The workload as a person should find it: every section there, with what may be written and what
// it means.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "workload/names.h"
#include "workload/traffic_fields.h"
#include "workload/workload.h"

namespace hyperloom {
namespace {

std::string list(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) parts.push_back(quoted(text));
  return "[" + join(parts, ", ") + "]";
}

std::string engine_section(const Workload& workload) {
  std::string text = fmt::format("engine:\n  pack: {}\n", quoted(workload.engine_pack));
  if (!workload.engine_version.empty())
    text += fmt::format("  version: {}\n", quoted(workload.engine_version));
  if (workload.engine_command.empty())
    text +=
        "  # command: [/path/to/server]     # your own server; without it the pack finds or builds "
        "one\n";
  else
    text += fmt::format("  command: {}     # your own server\n", list(workload.engine_command));
  std::vector<std::string> env;
  for (const auto& [name, value] : workload.engine_env) env.push_back(name + ": " + quoted(value));
  return text + fmt::format(
                    "  argv: {}     # the flags that you serve with today: the stock to beat\n  "
                    "env: {{{}}}\n",
                    list(workload.engine_argv), join(env, ", "));
}

std::string objective_section(const Objective& objective) {
  std::string text =
      fmt::format("objective:\n  maximize: {}     # {}\n  per_gpu: {}\n", objective.maximize,
                  join(objective_names(), ", "), objective.per_gpu);
  if (objective.limits.empty())
    text +=
        "  limits: []     # such as {metric: ttft, percentile: 95, max_ms: 500}; metrics: ttft, "
        "tpot, itl, e2e\n";
  else
    text += "  limits:\n";
  for (const Limit& limit : objective.limits)
    text += fmt::format("    - {{metric: {}, percentile: {}, max_ms: {}}}\n", limit.metric,
                        limit.percentile, limit.max_ms);
  return text + fmt::format(
                    "  least_gain: {}     # a smaller gain is not worth a change: 0.005 is 0.5 %\n",
                    objective.least_gain);
}

std::string quality_section(const QualityLimits& quality) {
  std::string text = fmt::format(
      "quality:     # what a change may cost, against stock\n  kl_mean_max: {}\n  ppl_ratio_max: "
      "{}\n  top1_min: {}\n",
      quality.kl_mean_max, quality.ppl_ratio_max, quality.top1_min);
  return text + (quality.waived.empty()
                     ? "  # waived: \"a reason\"     # then quality is reported, not enforced\n"
                     : fmt::format("  waived: {}\n", quoted(quality.waived)));
}

std::string touch_section(const Workload& workload) {
  std::string text = "touch:     # what may be changed: true, false, or a list of names\n";
  for (const std::string& name : touch_names()) {
    const auto found = workload.touch.find(name);
    const Permission permission = found == workload.touch.end() ? Permission{} : found->second;
    text += fmt::format("  {}: {}\n", name,
                        !permission.allowed || permission.only.empty()
                            ? (permission.allowed ? "true" : "false")
                            : list(permission.only));
  }
  return text;
}

}  // namespace

std::string write_workload(const Workload& workload) {
  std::string text =
      "# What is served, under which traffic, to which end. Relative paths start at this file's "
      "folder.\nschema: 1\n";
  text += fmt::format("model:\n  path: {}\n", quoted(workload.model_path.string()));
  text += engine_section(workload);
  text += workload.cpus > 0
              ? fmt::format("machine:\n  cpus: {}     # of the machine's, for the server\n",
                            workload.cpus)
              : "# machine: {cpus: 4}     # without it the server may use all cores\n";
  text += write_traffic(workload.traffic) + objective_section(workload.objective) +
          quality_section(workload.quality);
  text += fmt::format(
      "budget:\n  time_s: {}     # the whole session; seconds, or 25m, 1h30m\n  build_s: {}     # "
      "of it, for builds\n",
      workload.time_s, workload.build_s);
  text += touch_section(workload);
  return text + fmt::format(
                    "alpha: {}     # the chance that any kept change is none\ncomparisons: {}     "
                    "# that share it\n",
                    workload.alpha, workload.comparisons);
}

}  // namespace hyperloom
