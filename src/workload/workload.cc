#include "workload/workload.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workload/names.h"

namespace hyperloom {
namespace {

// A change's kind (candidate/candidate.h) -> the key of `touch` that governs it.
std::string touch_key(const std::string& kind) {
  if (kind == "flag") return "flags";
  if (kind == "patch") return "source";
  if (kind == "table" || kind == "kernel") return "kernels";
  return kind;
}

Json to_json_value(const Permission& permission) {
  if (!permission.allowed || permission.only.empty()) return permission.allowed;
  return permission.only;
}

Permission permission_from(const Json& json) {
  if (json.is_boolean()) return {json.get<bool>(), {}};
  Permission permission{true, json.get<std::vector<std::string>>()};
  permission.allowed = !permission.only.empty();
  return permission;
}

}  // namespace

bool Permission::permits(const std::string& knob) const {
  return allowed && (only.empty() || std::find(only.begin(), only.end(), knob) != only.end());
}

bool Workload::may_touch(const std::string& kind, const std::string& knob) const {
  const auto found = touch.find(touch_key(kind));
  return found == touch.end() || found->second.permits(knob);
}

Json to_json_value(const Workload& workload) {
  Json json = {{"schema", 1},
               {"model", {{"path", workload.model_path.string()}}},
               {"engine",
                {{"pack", workload.engine_pack},
                 {"argv", workload.engine_argv},
                 {"env", workload.engine_env}}},
               {"machine", Json::object()},
               {"traffic", to_json_value(workload.traffic)},
               {"objective",
                {{"maximize", workload.objective.maximize},
                 {"per_gpu", workload.objective.per_gpu},
                 {"limits", Json::array()},
                 {"least_gain", workload.objective.least_gain}}},
               {"quality",
                {{"kl_mean_max", workload.quality.kl_mean_max},
                 {"ppl_ratio_max", workload.quality.ppl_ratio_max},
                 {"top1_min", workload.quality.top1_min}}},
               {"budget", {{"time_s", workload.time_s}, {"build_s", workload.build_s}}},
               {"touch", Json::object()},
               {"alpha", workload.alpha},
               {"comparisons", workload.comparisons}};
  if (!workload.file.empty()) json["file"] = workload.file.string();
  if (!workload.engine_version.empty()) json["engine"]["version"] = workload.engine_version;
  if (!workload.engine_command.empty()) json["engine"]["command"] = workload.engine_command;
  if (workload.cpus > 0) json["machine"]["cpus"] = workload.cpus;
  for (const Limit& limit : workload.objective.limits)
    json["objective"]["limits"].push_back(
        {{"metric", limit.metric}, {"percentile", limit.percentile}, {"max_ms", limit.max_ms}});
  if (!workload.quality.waived.empty()) json["quality"]["waived"] = workload.quality.waived;
  // All six, so that a default and the same permission written out are one workload.
  for (const std::string& name : touch_names()) {
    const auto found = workload.touch.find(name);
    json["touch"][name] = found == workload.touch.end() ? Json(true) : to_json_value(found->second);
  }
  return json;
}

std::string Workload::canonical() const {
  Json json = to_json_value(*this);
  json.erase("file");
  json["traffic"].erase("trace");   // its SHA-256 says what it holds, wherever it lies
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Workload workload_from_json(const Json& json) try {
  Workload workload;
  workload.file = json.value("file", "");
  workload.model_path = json.at("model").at("path").get<std::string>();
  const Json& engine = json.at("engine");
  workload.engine_pack = engine.at("pack");
  workload.engine_version = engine.value("version", "");
  workload.engine_command = engine.value("command", std::vector<std::string>());
  workload.engine_argv = engine.at("argv").get<std::vector<std::string>>();
  workload.engine_env = engine.at("env").get<std::map<std::string, std::string>>();
  workload.cpus = json.at("machine").value("cpus", 0);
  workload.traffic = traffic_from_json(json.at("traffic"));
  const Json& objective = json.at("objective");
  workload.objective.maximize = objective.at("maximize");
  workload.objective.per_gpu = objective.at("per_gpu");
  workload.objective.least_gain = objective.at("least_gain");
  for (const Json& limit : objective.at("limits"))
    workload.objective.limits.push_back(
        {limit.at("metric"), limit.at("percentile"), limit.at("max_ms")});
  const Json& quality = json.at("quality");
  workload.quality.kl_mean_max = quality.at("kl_mean_max");
  workload.quality.ppl_ratio_max = quality.at("ppl_ratio_max");
  workload.quality.top1_min = quality.at("top1_min");
  workload.quality.waived = quality.value("waived", "");
  workload.time_s = json.at("budget").at("time_s");
  workload.build_s = json.at("budget").at("build_s");
  for (const auto& item : json.at("touch").items())
    workload.touch[item.key()] = permission_from(item.value());
  workload.alpha = json.at("alpha");
  workload.comparisons = json.at("comparisons");
  return workload;
} catch (const Json::exception& error) {
  throw bad_input(std::string("the session's workload cannot be read: ") + error.what(),
                  "it was written by another version: start a new session with the workload file");
}

}  // namespace hyperloom
