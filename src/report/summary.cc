#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "report/findings.h"
#include "report/words.h"

namespace hyperloom {
namespace {

// Absent and impossible numbers leave no key behind (docs/formats.md).
void put(Json& json, const char* key, double value) {
  if (std::isfinite(value)) json[key] = value;
}
void put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = printable(value);
}

void put_effect(Json& json, const Interval& effect) {
  if (effect.n == 0) return;
  put(json, "speedup", std::exp(effect.mean));
  if (effect.n > 1) {
    put(json, "low", std::exp(effect.low));
    put(json, "high", std::exp(effect.high));
  }
  json["pairs"] = effect.n;
}

Json quality_json(const QualityReport& report) {
  Json json = Json::object();
  if (report.kl_done && report.kl.ok) {
    put(json, "kl_mean", report.kl.mean_kl);
    put(json, "ppl_ratio", report.kl.ppl_ratio);
    put(json, "top1_agreement", report.kl.top1);
  }
  if (report.agreement.compared > 0) put(json, "greedy_agreement", report.agreement.share);
  json["held"] = report.held();
  return json;
}

void put_exam(Json& quality, const Comparison& comparison) {
  if (!comparison.exam) return;
  const ExamReport& report = comparison.exam->report;
  Json json = {{"held", report.held()}, {"items", report.compared}};
  put(json, "right", report.share_right);
  put(json, "stock_right", report.stock_right);
  put(json, "agreement", report.agreement);
  put(json, "stock_agreement", report.stock_agreement);
  quality["exam"] = json;
}

Json strings(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(printable(text));
  return json;
}

Json stage_json(const StageRow& stage) {
  Json json = Json::object();
  put(json, "id", stage.id);
  put(json, "name", stage.name);
  put(json, "kind", stage.kind);
  put(json, "parent", stage.parent);
  put(json, "decision", stage.decision);
  if (stage.change) json["change"] = *stage.change;
  if (stage.effect) put_effect(json, stage.effect->interval);
  Json legs = Json::array();
  for (const PairDone& pair : stage.pairs) {
    legs.push_back(pair.leg_a);
    legs.push_back(pair.leg_b);
  }
  json["legs"] = legs;
  if (stage.comparison && stage.comparison->quality) {
    json["quality"] = quality_json(stage.comparison->quality->report);
    put_exam(json["quality"], *stage.comparison);
  }
  json["unvalidated"] = strings(stage.unvalidated);
  return json;
}

Json sweep_json(const SessionState& state) {
  Json json = Json::array();
  for (const SweepPoint& point : state.sweep) {
    Json one = {{"id", point.id}};
    if (point.clients > 0) one["clients"] = point.clients;
    if (point.prompt_tokens > 0) one["prompt_tokens"] = point.prompt_tokens;
    if (point.output_tokens > 0) one["output_tokens"] = point.output_tokens;
    const auto stock = geometric_mean(point.stock), best = geometric_mean(point.best);
    if (stock) put(one, "stock", in_unit(*stock, state.workload.objective));
    if (best) put(one, "best", in_unit(*best, state.workload.objective));
    if (stock && best) put(one, "speedup", *best / *stock);
    json.push_back(one);
  }
  return json;
}

// The whole stack's quality: that of the last kept comparison, whose candidate holds every kept
// change.
Json final_quality(const SessionState& state) {
  Json json = Json::object();
  for (const Stage& stage : state.stages) {
    const Comparison* comparison = state.comparison(stage.comparison);
    if (!comparison || !comparison->quality) continue;
    json = quality_json(comparison->quality->report);
    put_exam(json, *comparison);
  }
  json.erase("held");
  json.erase("greedy_agreement");
  put(json, "waived", state.workload.quality.waived);
  return json;
}

Json artifacts(const ReportInputs& inputs, const Findings& findings) {
  Json json = Json::array();
  if (!findings.journal_sha256.empty())
    json.push_back({{"path", "journal.hlj"}, {"sha256", findings.journal_sha256}});
  json.push_back({{"path", "launch.sh"}, {"sha256", sha256_hex(render_launch_script(inputs))}});
  json.push_back({{"path", "report.html"}, {"sha256", sha256_hex(render_html(inputs))}});
  json.push_back({{"path", "report.md"}, {"sha256", sha256_hex(render_markdown(inputs))}});
  return json;
}

Json objective_json(const SessionState& state) {
  const Objective& objective = state.workload.objective;
  Json json = {{"name", objective.maximize},
               {"unit", shown_unit(objective)},
               {"per_gpu", objective.per_gpu}};
  if (state.probe && !state.probe->machine.gpus.empty())
    json["gpus"] = state.probe->machine.gpus.size();
  return json;
}

Json launch_json(const LaunchSpec& launch) {
  Json env = Json::object();
  for (const auto& [name, value] : launch.env) env[printable(name)] = printable(value);
  return {{"command", strings(launch.argv)}, {"env", env}};
}

}  // namespace

Json make_summary(const ReportInputs& inputs) {
  const SessionState& state = inputs.state;
  const Findings findings = gather(inputs);
  Json json = {{"schema", 1}, {"session", state.session}, {"result", findings.result}};
  json["provisional"] = inputs.provisional;
  put(json, "stop_reason", findings.stop_reason);
  put(json, "alpha", state.workload.alpha);
  json["objective"] = objective_json(state);
  if (state.pool.df() > 0) {
    json["noise"] = {{"df", state.pool.df()}};
    put(json["noise"], "pair_sd_log", state.pool.pair_sd());
  }
  put(json, "workload_sha256", state.workload_sha256);
  json["engine"] = {{"name", state.probe ? state.probe->pack : state.workload.engine_pack}};
  if (state.probe) {
    put(json["engine"], "version", state.probe->engine_version);
    put(json["engine"], "commit", state.probe->source_commit);
    json["machine"] = {{"id", state.probe->machine.id()}};
  }
  const Objective& objective = state.workload.objective;
  if (findings.stock_value) json["stock"] = {{"value", in_unit(*findings.stock_value, objective)}};
  if (findings.best_value) json["best"] = {{"value", in_unit(*findings.best_value, objective)}};
  if (findings.claim.n > 0) {
    put_effect(json["final"], findings.claim);
    json["final"]["level"] = 0.95;
  }
  json["stages"] = Json::array();
  for (const StageRow& stage : findings.stages) json["stages"].push_back(stage_json(stage));
  for (const StageRow& stage : findings.reverted) json["stages"].push_back(stage_json(stage));
  json["sweep"] = sweep_json(state);
  json["roofline"] = Json::object();
  if (findings.before) json["roofline"]["before"] = findings.before->roofline;
  if (findings.after) json["roofline"]["after"] = findings.after->roofline;
  json["quality"] = final_quality(state);
  json["launch"] = launch_json(inputs.best_launch);
  json["unvalidated"] = strings(findings.unvalidated);
  json["time"] = Json::object();
  put(json["time"], "total_s", findings.total_s);
  put(json["time"], "measuring_s", state.measuring_s);
  put(json["time"], "building_s", state.building_s);
  json["cost"] = {{"llm_usd", 0.0}};  // no role of this version calls a paid model
  json["artifacts"] = artifacts(inputs, findings);
  return json;
}

}  // namespace hyperloom
