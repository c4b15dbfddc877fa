// Absent = not told by this machine, or written before the field was known.
#include <nlohmann/json.hpp>
#include <type_traits>

#include "os/sentinel.h"

namespace hyperloom {
namespace {

template <class N, class Visit>
  requires std::is_same_v<std::remove_const_t<N>, GpuUse>
void visit_optional(N& g, const Visit& visit) {
  visit("clock_mhz", g.clock_mhz);
  visit("clock_lowest_mhz", g.clock_lowest_mhz);
  visit("temperature_c", g.temperature_c);
  visit("utilisation", g.utilisation);
  visit("memory_peak_mib", g.memory_peak_mib);
  visit("memory_total_mib", g.memory_total_mib);
}

template <class N, class Visit>
  requires std::is_same_v<std::remove_const_t<N>, Neighbours>
void visit_optional(N& n, const Visit& visit) {
  visit("clock_mhz", n.clock_mhz);
  visit("clock_lowest_mhz", n.clock_lowest_mhz);
  visit("speed_msteps_s", n.speed_msteps_s);
  visit("speed_lowest_msteps_s", n.speed_lowest_msteps_s);
  visit("temperature_c", n.temperature_c);
  visit("throttles", n.throttles);
  visit("cpu_stalled", n.cpu_stalled);
  visit("memory_stalled", n.memory_stalled);
  visit("io_stalled", n.io_stalled);
}

}  // namespace

void to_json(Json& json, const GpuUse& g) {
  json = {{"index", g.index},     {"vendor", g.vendor}, {"name", g.name},
          {"slowed", g.slowed},   {"ours", g.ours},     {"reasons", g.reasons},
          {"strangers", g.strangers}};
  visit_optional(g, [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  });
}

void from_json(const Json& json, GpuUse& g) {
  g = GpuUse();
  json.at("index").get_to(g.index);
  json.at("vendor").get_to(g.vendor);
  json.at("name").get_to(g.name);
  json.at("slowed").get_to(g.slowed);
  json.at("ours").get_to(g.ours);
  json.at("reasons").get_to(g.reasons);
  json.at("strangers").get_to(g.strangers);
  visit_optional(g, [&](const char* name, std::optional<double>& value) {
    if (json.contains(name)) value = json.at(name).get<double>();
  });
}

void to_json(Json& json, const Neighbours& n) {
  json = {{"seconds", n.seconds},
          {"foreign_cpu", n.foreign_cpu},
          {"foreign_cpu_peak", n.foreign_cpu_peak},
          {"steal", n.steal},
          {"run_queue_delay", n.run_queue_delay},
          {"own_cpu", n.own_cpu},
          {"swap_mib", n.swap_mib}};
  visit_optional(n, [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  });
  for (const NamedLoad& load : n.busiest)
    json["busiest"].push_back({{"name", load.name}, {"cores", load.cores}});
  if (!n.gpus.empty()) json["gpus"] = n.gpus;
}

void from_json(const Json& json, Neighbours& n) {
  n = Neighbours();
  json.at("seconds").get_to(n.seconds);
  json.at("foreign_cpu").get_to(n.foreign_cpu);
  json.at("foreign_cpu_peak").get_to(n.foreign_cpu_peak);
  json.at("steal").get_to(n.steal);
  json.at("run_queue_delay").get_to(n.run_queue_delay);
  json.at("own_cpu").get_to(n.own_cpu);
  json.at("swap_mib").get_to(n.swap_mib);
  visit_optional(n, [&](const char* name, std::optional<double>& value) {
    if (json.contains(name)) value = json.at(name).get<double>();
  });
  if (json.contains("busiest")) {
    for (const Json& load : json.at("busiest"))
      n.busiest.push_back({load.at("name"), load.at("cores")});
  }
  if (json.contains("gpus")) json.at("gpus").get_to(n.gpus);
}

}  // namespace hyperloom
