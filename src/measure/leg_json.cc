#include <nlohmann/json.hpp>

#include "measure/leg.h"

namespace hyperloom {

void to_json(Json& json, const LegResult& r) {
  json = {{"value", r.value},
          {"trace_sha256", r.trace_sha256},
          {"load", r.load},
          {"neighbours", r.neighbours},
          {"effective", r.effective},
          {"metrics", r.metrics},
          {"boot_s", r.boot_s},
          {"cost_s", r.cost_s},
          {"peak_rss_bytes", r.peak_rss_bytes},
          {"forced_stop", r.forced_stop},
          {"answers_sha256", r.answers_sha256},
          {"void_reasons", r.void_reasons}};
}

void from_json(const Json& json, LegResult& r) {
  r.value = json.at("value").get<double>();
  r.trace_sha256 = json.at("trace_sha256").get<std::string>();
  r.load = json.at("load").get<LoadSummary>();
  r.neighbours = json.at("neighbours").get<Neighbours>();
  r.effective = json.at("effective").get<std::map<std::string, std::string>>();
  r.metrics = json.at("metrics").get<std::map<std::string, double>>();
  r.boot_s = json.at("boot_s").get<double>();
  r.cost_s = json.at("cost_s").get<double>();
  r.peak_rss_bytes = json.at("peak_rss_bytes").get<uint64_t>();
  r.forced_stop = json.at("forced_stop").get<bool>();
  r.answers_sha256 = json.at("answers_sha256").get<std::string>();
  r.void_reasons = json.at("void_reasons").get<std::vector<std::string>>();
}

}  // namespace hyperloom
