#include "workload/traffic.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "workload/names.h"

namespace hyperloom {
namespace {

Json to_json_value(const Spread& spread) { return {{"mean", spread.mean}, {"cv", spread.cv}}; }
Spread spread_from(const Json& json) { return {json.at("mean"), json.at("cv")}; }

// Only what is not the default: plain Poisson arrivals are an empty map.
Json to_json_value(const Arrival& arrival) {
  Json json = Json::object();
  if (arrival.process != Arrival::Process::Poisson) json["process"] = name_of(arrival.process);
  if (arrival.process == Arrival::Process::Gamma) json["burstiness"] = arrival.burstiness;
  if (!arrival.ramp_up.empty()) {
    json["ramp_up"] = arrival.ramp_up;
    json["ramp_from_rps"] = arrival.ramp_from_rps;
  }
  if (arrival.max_in_flight > 0) json["max_in_flight"] = arrival.max_in_flight;
  return json;
}

Arrival arrival_from(const Json& json) {
  Arrival arrival;
  const std::string process = json.value("process", "poisson");
  if (process == "constant") arrival.process = Arrival::Process::Constant;
  if (process == "gamma") arrival.process = Arrival::Process::Gamma;
  arrival.burstiness = json.value("burstiness", 1.0);
  arrival.ramp_up = json.value("ramp_up", "");
  arrival.ramp_from_rps = json.value("ramp_from_rps", 0.0);
  arrival.max_in_flight = json.value("max_in_flight", 0);
  return arrival;
}

void add_trace(const Traffic& traffic, Json& json) {
  json["kind"] = "trace";
  json["trace"] = traffic.trace;
  json["trace_sha256"] = traffic.trace_sha256;
  json["trace_speed"] = traffic.trace_speed;
  json["trace_entries"] = traffic.trace_entries;
  json["longest_tokens"] = traffic.longest_tokens;
}

void read_trace(const Json& json, Traffic& traffic) {
  traffic.kind = Traffic::Kind::Trace;
  traffic.trace = json.at("trace");
  traffic.trace_sha256 = json.at("trace_sha256");
  traffic.trace_speed = json.at("trace_speed");
  traffic.trace_entries = json.at("trace_entries");
  traffic.longest_tokens = json.at("longest_tokens");
}

}  // namespace

Json to_json_value(const Traffic& traffic) {
  Json json = {{"kind", traffic.kind == Traffic::Kind::Closed ? "closed" : "poisson"},
               {"api", name_of(traffic.api)},
               {"output_tokens", to_json_value(traffic.output_tokens)},
               {"ignore_eos", traffic.ignore_eos},
               {"shared_prefix_tokens", traffic.shared_prefix_tokens},
               {"seed", traffic.seed}};
  if (traffic.kind == Traffic::Kind::Closed) {
    json["clients"] = traffic.clients;
  } else {
    json["rate_rps"] = traffic.rate_rps;
    if (traffic.kind == Traffic::Kind::Trace) add_trace(traffic, json);
    else if (traffic.arrival.process != Arrival::Process::Poisson) json["kind"] = "open";
    if (traffic.arrival != Arrival{}) json["arrival"] = to_json_value(traffic.arrival);
  }
  if (traffic.turns.mean > 0) json["conversations"] = {{"turns", to_json_value(traffic.turns)}, {"think_s", to_json_value(traffic.think_s)}};
  if (traffic.dataset.empty()) json["prompt_tokens"] = to_json_value(traffic.prompt_tokens);
  else json["dataset"] = traffic.dataset;
  return json;
}

Traffic traffic_from_json(const Json& json) {
  Traffic traffic;
  traffic.kind = json.at("kind") == "closed" ? Traffic::Kind::Closed : Traffic::Kind::Open;
  if (json.at("kind") == "trace") read_trace(json, traffic);
  traffic.api = json.at("api") == name_of(Traffic::Api::Completions) ? Traffic::Api::Completions : Traffic::Api::Chat;
  traffic.clients = json.value("clients", 0);
  traffic.rate_rps = json.value("rate_rps", 0.0);
  if (json.contains("arrival")) traffic.arrival = arrival_from(json.at("arrival"));
  traffic.dataset = json.value("dataset", "");
  if (json.contains("prompt_tokens")) traffic.prompt_tokens = spread_from(json.at("prompt_tokens"));
  traffic.output_tokens = spread_from(json.at("output_tokens"));
  if (json.contains("conversations")) {
    traffic.turns = spread_from(json.at("conversations").at("turns"));
    traffic.think_s = spread_from(json.at("conversations").at("think_s"));
  }
  traffic.ignore_eos = json.at("ignore_eos");
  traffic.shared_prefix_tokens = json.at("shared_prefix_tokens");
  traffic.seed = json.at("seed");
  return traffic;
}

std::string kind_word(const Traffic& traffic) {
  return traffic.kind == Traffic::Kind::Closed ? "closed" : traffic.kind == Traffic::Kind::Trace ? "trace" : name_of(traffic.arrival.process);
}

std::string arrival_text(const Traffic& traffic) {
  const Arrival& arrival = traffic.arrival;
  std::string turns;
  if (traffic.turns.mean > 0) turns = fmt::format(", conversations of {:g} turns", traffic.turns.mean);
  if (traffic.think_s.mean > 0) turns += fmt::format(" with {:g} s to think", traffic.think_s.mean);
  if (traffic.kind == Traffic::Kind::Closed)
    return fmt::format("{} client{} in a closed loop", traffic.clients, traffic.clients == 1 ? "" : "s") + turns;
  const std::string bound = arrival.max_in_flight > 0 ? fmt::format(", at most {} in flight", arrival.max_in_flight) : "";
  if (traffic.kind == Traffic::Kind::Trace)
    return fmt::format("replay of {} at speed {:g} ({} entries, {:.3g} requests/s)", traffic.trace, traffic.trace_speed,
                       traffic.trace_entries, traffic.rate_rps) + bound;
  std::string text = arrival.ramp_up.empty() ? fmt::format("{:g} requests/s, ", traffic.rate_rps)
                                             : fmt::format("{:g} rising to {:g} requests/s ({}), ", arrival.ramp_from_rps,
                                                           traffic.rate_rps, arrival.ramp_up);
  switch (arrival.process) {
    case Arrival::Process::Poisson: text += "Poisson arrivals"; break;
    case Arrival::Process::Constant: text += "evenly spaced"; break;
    case Arrival::Process::Gamma: text += fmt::format("gamma arrivals of burstiness {:g}", arrival.burstiness); break;
  }
  return text + bound + turns;
}

}  // namespace hyperloom
