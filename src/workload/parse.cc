// From YAML text to a Workload: one function a section, in the order of docs/formats.md.
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/files.h"
#include "base/text.h"
#include "os/environment.h"
#include "workload/names.h"
#include "workload/traffic_fields.h"
#include "workload/workload.h"
#include "workload/yaml_fields.h"

namespace hyperloom {
namespace {

constexpr double kMonth = 30 * 86400.0;

void read_model(Workload& workload, const YamlFields& top, bool must_exist) {
  if (top.has("model") && top.node("model").IsScalar())
    throw top.error("model", "must be a map",
                    "write model: {path: " + top.node("model").Scalar() + "}");
  const YamlFields model = top.map("model", {"path", "hub", "revision"});
  if (!model.has("path")) {
    if (model.has("hub"))
      throw model.error("hub", "models are not fetched from a hub yet",
                        "download the GGUF file and write model: {path: FILE.gguf}");
    throw model.error("path", "is missing",
                      "write model: {path: FILE.gguf}, the model that is served");
  }
  for (const char* key : {"hub", "revision"})
    if (model.has(key))
      throw model.error(key, "stands beside model.path",
                        "a local file has no hub or revision: remove it");
  workload.model_path = beside(workload.file, model.text("path"));
  std::error_code ignored;
  if (must_exist && !fs::exists(workload.model_path, ignored))
    throw model.error("path", "there is no " + workload.model_path.string(),
                      "correct the path (relative ones start at this file's folder)");
}

// A `{port}` that nothing will fill in. `{{port}}` is a template of the engine's own.
std::string bare_name(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    for (const char* name : {"{port}", "{model}"})
      for (size_t at = word.find(name); at != std::string::npos; at = word.find(name, at + 1))
        if (at == 0 || (word[at - 1] != '$' && word[at - 1] != '{')) return name;
  return "";
}

// Both lists go into the journal, the report and the launch script.
void check_words(const YamlFields& engine, const char* key, const std::vector<std::string>& words) {
  if (const std::string secret = secret_in(words); !secret.empty())
    throw engine.error(key, "`" + secret + "` looks like a secret, and reports show this list",
                       "serve without a key on loopback while tuning, and give it when you deploy");
  if (const std::string name = bare_name(words); !name.empty())
    throw engine.error(key, "`" + name + "` is not filled in", "write $" + name);
}

void read_engine(Workload& workload, const YamlFields& top) {
  const YamlFields engine =
      top.map("engine", {"pack", "version", "python", "command", "argv", "env"});
  workload.engine_pack = engine.text("pack", workload.engine_pack);
  if (workload.engine_pack.find('/') != std::string::npos || workload.engine_pack[0] == '.')
    throw engine.error("pack", "`" + workload.engine_pack + "` is not a pack's name",
                       "write the name of a folder in engines/");
  workload.engine_version = engine.text("version");
  if (engine.has("python"))
    throw engine.error(
        "python", "engines in a Python environment are not served by this key yet",
        "give the server's own program: engine: {command: [/path/to/venv/bin/SERVER]}");
  if (engine.has("command")) {
    if (engine.has("version"))
      throw engine.error("version", "stands beside engine.command",
                         "a server of your own has its own version: remove one");
    if (engine.node("command").IsScalar()) {
      const std::string program = engine.text("command");
      if (program.find(' ') != std::string::npos)
        throw engine.error("command", "a shell line is not split",
                           "write a list: command: [" + join(split_words(program), ", ") + "]");
      workload.engine_command = {program};
    } else {
      workload.engine_command = engine.list("command");
    }
    if (workload.engine_command.empty() || trim(workload.engine_command[0]).empty())
      throw engine.error("command", "is empty", "name the server's program, or remove the line");
    check_words(engine, "command", workload.engine_command);
    std::string& program = workload.engine_command[0];
    if (program.find('/') != std::string::npos) program = beside(workload.file, program).string();
  }
  workload.engine_argv = engine.list("argv");
  check_words(engine, "argv", workload.engine_argv);
  workload.engine_env = engine.texts("env");
  for (const auto& [name, value] : workload.engine_env) {
    const bool legal = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                       std::all_of(name.begin(), name.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    if (!legal)
      throw engine.error("env", "`" + name + "` is not a variable's name",
                         "use letters, digits and _");
    // The environment goes into the journal, the report and the launch script.
    if (names_a_secret(name, value))
      throw engine.error("env", "`" + name + "` looks like a secret, and reports show this map",
                         "let the server read it from a file of yours");
  }
}

void read_machine(Workload& workload, const YamlFields& top) {
  const YamlFields machine = top.map("machine", {"cpus", "gpus"});
  workload.cpus = static_cast<int>(machine.whole("cpus", workload.cpus, 1, 4096));
  if (machine.whole("gpus", 0, 0, 1024) > 0)
    throw machine.error("gpus", "GPUs are not given out by this key yet",
                        "remove it, and name the devices in engine.env");
}

void read_objective(Workload& workload, const YamlFields& top) {
  const YamlFields fields = top.map("objective", {"maximize", "per_gpu", "limits", "least_gain"});
  Objective& objective = workload.objective;
  objective.maximize = fields.choice("maximize", objective.maximize, objective_names());
  objective.per_gpu = fields.flag("per_gpu", objective.per_gpu);
  objective.least_gain = fields.number("least_gain", objective.least_gain, {0, 0.5});
  if (!fields.has("limits")) return;
  const YAML::Node& list = fields.node("limits");
  const char* shape = "write limits: [{metric: ttft, percentile: 95, max_ms: 500}]";
  if (!list.IsSequence()) throw fields.error("limits", "must be a list", shape);
  for (size_t i = 0; i < list.size(); ++i) {
    const YamlFields item(list[i], fields.file(), "objective.limits[" + std::to_string(i) + "]",
                          {"metric", "percentile", "max_ms"});
    for (const char* key : {"metric", "percentile", "max_ms"})
      if (!item.has(key)) throw item.error(key, "is missing", shape);
    Limit limit;
    limit.metric = item.choice("metric", "", limit_metrics());
    limit.percentile = item.number("percentile", 0, {0, 100});
    // The percentiles that a leg reports (load/metrics.h).
    if (const double p = limit.percentile; p != 50 && p != 90 && p != 95 && p != 99)
      throw item.error("percentile", "is not measured", "one of: 50, 90, 95, 99");
    limit.max_ms = item.number("max_ms", 0, {0, 1e8, true});
    for (const Limit& other : objective.limits)
      if (other.metric == limit.metric && other.percentile == limit.percentile)
        throw item.error("", "the same metric and percentile stand above", "remove one of the two");
    objective.limits.push_back(limit);
  }
}

void read_quality(Workload& workload, const YamlFields& top) {
  const YamlFields fields =
      top.map("quality", {"kl_mean_max", "ppl_ratio_max", "top1_min", "tasks", "waived"});
  QualityLimits& quality = workload.quality;
  quality.kl_mean_max = fields.number("kl_mean_max", quality.kl_mean_max, {0, 10, true});
  quality.ppl_ratio_max = fields.number("ppl_ratio_max", quality.ppl_ratio_max, {1, 10});
  quality.top1_min = fields.number("top1_min", quality.top1_min, {0, 1});
  if (fields.has("tasks") && !fields.list("tasks").empty())
    throw fields.error("tasks", "task accuracy is not measured yet",
                       "remove it: divergence, perplexity and top-1 are measured");
  quality.waived = fields.text("waived");
  if (quality.waived == "true" || quality.waived == "false")
    throw fields.error(
        "waived", "must be a reason",
        "write why, such as waived: \"speed trial, answers are not used\", or remove it");
}

void read_budget(Workload& workload, const YamlFields& top) {
  const YamlFields fields = top.map("budget", {"time_s", "build_s", "llm_usd"});
  if (!fields.has("time_s"))
    throw fields.error("time_s", "is missing",
                       "write budget: {time_s: 25m}: the session's whole time");
  workload.time_s = fields.duration("time_s", 0, {0, kMonth, true});
  workload.build_s = fields.duration("build_s", workload.build_s, {0, kMonth});
  if (fields.number("llm_usd", 0, {0, 1e6}) > 0)
    throw fields.error("llm_usd", "no language model is asked in this version",
                       "remove it: the built-in planner needs no money");
}

Permission read_permission(const YamlFields& touch, const std::string& key) {
  if (!touch.has(key)) return {};
  if (!touch.node(key).IsSequence()) {
    if (touch.node(key).IsMap())
      throw touch.error(key, "must be true, false or a list of names", "write [first, second]");
    return {touch.flag(key, true), {}};
  }
  Permission permission{true, touch.list(key)};
  // An empty list allows nothing; an empty `only` would allow everything.
  permission.allowed = !permission.only.empty();
  return permission;
}

void read_touch(Workload& workload, const YamlFields& top) {
  if (top.has("touch") && top.node("touch").IsScalar()) {
    const Permission all{top.flag("touch", true), {}};
    for (const std::string& kind : touch_names()) workload.touch[kind] = all;
    return;
  }
  const YamlFields touch = top.map("touch", touch_names());
  for (const std::string& kind : touch_names()) workload.touch[kind] = read_permission(touch, kind);
}

// Looks no further than a second document: after one, yaml-cpp stands for ever before a stray `,`, so LoadAll never ends.
bool holds_two_documents(const std::string& yaml) {
  struct Ignore : YAML::EventHandler {
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  } ignore;
  std::istringstream text(yaml);
  YAML::Parser parser(text);
  return parser.HandleNextDocument(ignore) && parser.HandleNextDocument(ignore);
}

YAML::Node load_yaml(const std::string& yaml, const std::string& name) {
  try {
    YAML::Node document = YAML::Load(yaml);
    if (!document.IsDefined() || document.IsNull())
      throw bad_input(name + ":1: the workload is empty",
                      "`hyperloom init` writes one with comments");
    if (holds_two_documents(yaml))
      throw bad_input(name + ": holds 2 documents or more", "keep one; remove the `---` lines");
    return document;
  } catch (const YAML::Exception& error) {
    throw bad_input(name + ":" + std::to_string(error.mark.line + 1) + ": not YAML: " + error.msg,
                    "check indentation, colons, quotes and brackets at and above this line");
  }
}

Workload parse(const std::string& yaml, const fs::path& file, bool must_exist) {
  const std::string name = file.empty() ? "workload" : file.string();
  const YAML::Node root = load_yaml(yaml, name);
  try {
    const YamlFields top(root, name, "",
                         {"schema", "model", "engine", "machine", "traffic", "objective", "quality",
                          "budget", "touch", "alpha", "comparisons"});
    if (!top.has("schema")) throw top.error("schema", "is missing", "write schema: 1 at the top");
    if (top.whole("schema", 0, 1, 1000000) != 1)
      throw top.error("schema", "is of a newer hyperloom", "this one reads schema: 1");
    Workload workload;
    workload.file = file;
    read_model(workload, top, must_exist);
    read_engine(workload, top);
    read_machine(workload, top);
    workload.traffic = read_traffic(top, workload.file);
    read_objective(workload, top);
    read_quality(workload, top);
    read_budget(workload, top);
    read_touch(workload, top);
    workload.alpha = top.number("alpha", workload.alpha, {0, 0.5, true});
    workload.comparisons =
        static_cast<int>(top.whole("comparisons", workload.comparisons, 1, 1000));
    return workload;
  } catch (const YAML::Exception& error) {  // an odd node, such as an alias into itself
    throw bad_input(name + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg,
                    "write it plainly");
  }
}

}  // namespace

Workload parse_workload(const std::string& yaml, const fs::path& file) {
  return parse(yaml, file, false);
}

Workload load_workload(const fs::path& file) { return parse(read_file(file), file, true); }

}  // namespace hyperloom
