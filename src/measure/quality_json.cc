#include <nlohmann/json.hpp>

#include "measure/quality.h"

namespace hyperloom {
namespace {

Json agreement_json(const Agreement& a) {
  Json json = {{"share", a.share}, {"compared", a.compared}};
  if (a.tokens_apart >= 0) json["tokens_apart"] = a.tokens_apart;
  return json;
}

Agreement agreement_from(const Json& json, const char* name) {
  if (!json.contains(name)) return {};
  const Json& from = json.at(name);
  return {from.at("share").get<double>(), from.at("compared").get<int>(), from.value("tokens_apart", -1.0)};
}

}  // namespace

void to_json(Json& json, const QualityReport& r) {
  json = {{"kl_done", r.kl_done}, {"failures", r.failures}, {"notes", r.notes}, {"cost_s", r.cost_s}};
  // Absent, never 0: what was not compared or not measured has no figure.
  if (r.agreement.compared > 0) json["agreement"] = agreement_json(r.agreement);
  if (r.stock_agreement.compared > 0) json["stock_agreement"] = agreement_json(r.stock_agreement);
  if (r.kl.ok) {
    json["kl"] = {{"mean_kl", r.kl.mean_kl},     {"mean_kl_se", r.kl.mean_kl_se}, {"ppl_ratio", r.kl.ppl_ratio},
                  {"ppl_ratio_se", r.kl.ppl_ratio_se}, {"top1", r.kl.top1},       {"top1_se", r.kl.top1_se},
                  {"tokens", r.kl.tokens},       {"seconds", r.kl.seconds}};
  } else if (!r.kl.error.empty()) {
    json["kl"] = {{"error", r.kl.error}, {"seconds", r.kl.seconds}};
    if (r.kl.no_evidence) json["kl"]["no_evidence"] = true;
  }
}

void from_json(const Json& json, QualityReport& r) {
  r = QualityReport{};
  r.kl_done = json.at("kl_done").get<bool>();
  r.failures = json.at("failures").get<std::vector<std::string>>();
  r.notes = json.at("notes").get<std::vector<std::string>>();
  r.cost_s = json.at("cost_s").get<double>();
  r.agreement = agreement_from(json, "agreement");
  r.stock_agreement = agreement_from(json, "stock_agreement");
  if (!json.contains("kl")) return;
  const Json& kl = json.at("kl");
  r.kl.error = kl.value("error", "");
  r.kl.ok = r.kl.error.empty();
  r.kl.no_evidence = kl.value("no_evidence", false);
  r.kl.seconds = kl.at("seconds").get<double>();
  if (!r.kl.ok) return;
  r.kl.mean_kl = kl.at("mean_kl").get<double>();
  r.kl.mean_kl_se = kl.at("mean_kl_se").get<double>();
  r.kl.ppl_ratio = kl.at("ppl_ratio").get<double>();
  r.kl.ppl_ratio_se = kl.at("ppl_ratio_se").get<double>();
  r.kl.top1 = kl.at("top1").get<double>();
  r.kl.top1_se = kl.at("top1_se").get<double>();
  r.kl.tokens = kl.at("tokens").get<int>();
}

}  // namespace hyperloom
