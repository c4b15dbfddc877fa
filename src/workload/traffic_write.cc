#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "workload/names.h"
#include "workload/traffic_fields.h"

namespace hyperloom {
namespace {

std::string spread(const Spread& spread) { return fmt::format("{{mean: {}, cv: {}}}", spread.mean, spread.cv); }

std::string arrival(const Arrival& arrival) {
  std::vector<std::string> parts;
  if (arrival.process != Arrival::Process::Poisson) parts.push_back(fmt::format("process: {}", name_of(arrival.process)));
  if (arrival.process == Arrival::Process::Gamma) parts.push_back(fmt::format("burstiness: {}", arrival.burstiness));
  if (!arrival.ramp_up.empty()) parts.push_back(fmt::format("ramp_up: {}, ramp_from_rps: {}", arrival.ramp_up, arrival.ramp_from_rps));
  if (arrival.max_in_flight > 0) parts.push_back(fmt::format("max_in_flight: {}", arrival.max_in_flight));
  return "{" + join(parts, ", ") + "}";
}

std::string arrivals(const Traffic& traffic) {
  if (traffic.kind == Traffic::Kind::Trace)
    return fmt::format("  kind: trace\n  trace: {}     # when requests came, how long they were, what they shared\n  speed: {}\n{}",
                       quoted(traffic.trace), traffic.trace_speed,
                       traffic.arrival == Arrival{} ? "" : fmt::format("  arrival: {}\n", arrival(traffic.arrival)));
  constexpr const char* kKind = "closed: clients that ask again at once; poisson or open: rate_rps arrivals";
  if (traffic.kind == Traffic::Kind::Closed) return fmt::format("  kind: closed     # {}\n  clients: {}\n", kKind, traffic.clients);
  std::string text = fmt::format("  kind: {}     # {}\n  rate_rps: {}\n",
                                 traffic.arrival.process == Arrival::Process::Poisson ? "poisson" : "open", kKind, traffic.rate_rps);
  text += traffic.arrival == Arrival{} ? "  # arrival: {ramp_up: linear, ramp_from_rps: 1, max_in_flight: 64}     # kind: open also "
                                         "takes {process: gamma, burstiness: 0.5}, constant\n"
                                       : fmt::format("  arrival: {}\n", arrival(traffic.arrival));
  return text;
}

}  // namespace

// A JSON string is a YAML string in double quotes.
std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string write_traffic(const Traffic& traffic) {
  std::string text = "traffic:\n" + arrivals(traffic);
  const std::string rest = fmt::format("  ignore_eos: {}     # true: every answer has the length that was asked for\n  api: {}     # chat or completions\n  seed: {}\n",
                                       traffic.ignore_eos, name_of(traffic.api), traffic.seed);
  if (traffic.kind == Traffic::Kind::Trace) return text + rest;
  text += traffic.dataset.empty() ? fmt::format("  prompt_tokens: {}     # cv: spread over mean; or dataset: FILE (lines, JSON lines, ShareGPT)\n",
                                                spread(traffic.prompt_tokens))
                                  : fmt::format("  dataset: {}\n", quoted(traffic.dataset));
  return text + fmt::format("  output_tokens: {}\n  shared_prefix_tokens: {}\n", spread(traffic.output_tokens), traffic.shared_prefix_tokens) +
         (traffic.turns.mean > 0 ? fmt::format("  conversations: {{turns: {}, think_s: {}}}\n", spread(traffic.turns), spread(traffic.think_s))
                                 : "  # conversations: {turns: 4, think_s: 2}     # each turn holds the earlier ones and their answers\n") + rest;
}

}  // namespace hyperloom
