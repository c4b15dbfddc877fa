#include "report/words.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace hyperloom {
namespace {

int decimals_for(double ratio) { return std::abs(ratio - 1) < 0.0995 ? 3 : 2; }

std::string one_length(const Spread& spread) {
  return spread.cv > 0 ? fmt::format("{:.0f} (cv {:.2g})", spread.mean, spread.cv)
                       : fmt::format("{:.0f}", spread.mean);
}

}  // namespace

std::string ratio_text(double log_ratio) {
  const double ratio = std::exp(log_ratio);
  return fmt::format("{:.{}f}", ratio, decimals_for(ratio));
}

std::string interval_text(const Interval& interval) {
  if (interval.n < 2) return "";
  const int decimals = decimals_for(std::exp(interval.mean));
  return fmt::format("[{:.{}f}, {:.{}f}]", std::exp(interval.low), decimals,
                     std::exp(interval.high), decimals);
}

std::string claim_text(const Interval& claim) {
  if (claim.n == 0) return "no fresh pairs, so no claim";
  if (claim.n == 1) return ratio_text(claim.mean) + "x in one fresh pair: too few for an interval";
  const std::string tail = interval_text(claim) + " at 95 %, " + count_text(claim.n, "fresh pair");
  if (claim.low > 0) return ratio_text(claim.mean) + "x faster " + tail;
  if (claim.high < 0) return ratio_text(claim.mean) + "x: slower " + tail;
  return ratio_text(claim.mean) + "x, not told apart from no change " + tail;
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string figure_text(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 99.95 || size == 0 ? 0
                       : size >= 9.995            ? 1
                       : size >= 0.9995           ? 2
                       : size >= 0.09995          ? 3
                       : size >= 0.009995         ? 4
                                                  : 5;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string count_text(size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

bool smaller_is_better(const Objective& objective) {
  return objective.maximize == "ttft" || objective.maximize == "tpot" ||
         objective.maximize == "e2e";
}

double in_unit(double leg_value, const Objective& objective) {
  return smaller_is_better(objective) && leg_value > 0 ? 1000 / leg_value : leg_value;
}

std::string value_text(double leg_value, const Objective& objective) {
  return figure_text(in_unit(leg_value, objective)) + " " + shown_unit(objective);
}

std::string shown_unit(const Objective& objective) {
  return smaller_is_better(objective) ? "ms" : objective_unit(objective);
}

std::string objective_text(const Objective& objective) {
  std::string text = objective.maximize == "output_tok_s"  ? "output tokens per second"
                     : objective.maximize == "total_tok_s" ? "prompt and output tokens per second"
                     : objective.maximize == "requests_s"  ? "requests per second"
                     : objective.maximize == "ttft"        ? "median time to first token"
                     : objective.maximize == "tpot"        ? "median time per output token"
                     : objective.maximize == "e2e"         ? "median request latency"
                                                           : objective.maximize;
  return objective.per_gpu ? text + " per GPU" : text;
}

std::string limit_text(const Limit& limit) {
  const std::string which =
      limit.percentile > 0 ? fmt::format(" p{:g}", limit.percentile) : " mean";
  return limit.metric + which + " <= " + figure_text(limit.max_ms) + " ms";
}

std::string traffic_text(const Traffic& traffic) {
  std::string text = arrival_text(traffic);
  text += traffic.dataset.empty() ? ", prompts of " + one_length(traffic.prompt_tokens) + " tokens"
                                  : ", prompts from " + traffic.dataset;
  text += ", answers of " + one_length(traffic.output_tokens) + " tokens";
  if (traffic.shared_prefix_tokens > 0) {
    text += fmt::format(", {} tokens of shared prefix", traffic.shared_prefix_tokens);
  }
  return text + (traffic.api == Traffic::Api::Chat ? ", chat" : ", completions");
}

std::string machine_text(const MachineFacts& machine) {
  std::string text = machine.cpu_name.empty() ? "unnamed CPU" : machine.cpu_name;
  text += ", " + count_text(static_cast<size_t>(machine.cores), "core");
  if (machine.memory_bytes > 0)
    text += ", " + format_bytes(static_cast<double>(machine.memory_bytes)) + " memory";
  for (const GpuFacts& gpu : machine.gpus) text += ", " + gpu.name;
  return text;
}

std::string model_text(const ModelFacts& model) {
  std::string text = model.name.empty() ? "unnamed model" : model.name;
  if (!model.weights_type.empty()) text += ", " + model.weights_type;
  if (model.parameters > 0) {
    const double millions = static_cast<double>(model.parameters) / 1e6;
    text += millions < 1000 ? fmt::format(", {:.0f} M parameters", millions)
                            : fmt::format(", {:.1f} B parameters", millions / 1000);
  }
  return text;
}

std::string engine_text(const ProbeEvent& probe) {
  std::string text = probe.pack;
  if (!probe.engine_version.empty()) text += " " + probe.engine_version;
  if (!probe.source_commit.empty()) text += " (" + probe.source_commit.substr(0, 12) + ")";
  return text;
}

std::string because_text(const PhaseEntered& entered) {
  return replace_all(entered.reason, "_", " ") +
         (entered.evidence.empty() ? "" : ": " + entered.evidence);
}

std::string html_text(std::string_view text) { return html_escape(printable(text)); }

std::string launch_text(const LaunchSpec& launch, bool wrapped) {
  std::string text;
  for (const auto& [name, value] : launch.env)
    text += name + "=" + shell_quote(value) + (wrapped ? " \\\n" : " ");
  for (size_t i = 0; i < launch.argv.size(); ++i) {
    const std::string& word = launch.argv[i];
    if (i > 0) text += wrapped && word.starts_with("-") ? " \\\n  " : " ";
    text += shell_quote(replace_all(word, "${port}", "8080"));
  }
  return text;
}

}  // namespace hyperloom
