#include "engine/pack.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <csignal>

#include "base/files.h"
#include "base/text.h"
#include "engine/expression.h"
#include "engine/pack_knobs.h"
#include "engine/yaml_reader.h"

namespace hyperloom {
namespace {

const std::map<std::string, int> kSignals = {
    {"TERM", SIGTERM}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"HUP", SIGHUP}, {"KILL", SIGKILL}};

void read_launch(YamlReader& top, const std::string& file, Pack& pack) {
  YamlReader launch(file, top.child("launch"), "launch");
  pack.launch_argv = launch.texts("argv");
  pack.launch_env = launch.text_map("env");
  launch.finish();

  YamlReader stop(file, top.child("stop"), "stop");
  const std::string signal = stop.one_of("signal", {"TERM", "INT", "QUIT", "HUP", "KILL"}, "TERM");
  pack.stop_signal = kSignals.at(signal);
  pack.stop_grace_s = stop.number("grace_s", pack.stop_grace_s, 0, 600);
  stop.finish();

  YamlReader ready(file, top.child("ready"), "ready");
  pack.health_path = ready.text("health");
  pack.ready_expect = ready.text("expect");
  check_regex(ready, "expect", pack.ready_expect);
  pack.ready_timeout_s = ready.number("timeout_s", pack.ready_timeout_s, 1, 7200);
  ready.finish();
}

void read_effective(YamlReader& top, Pack& pack) {
  pack.effective = top.text_map("effective");
  for (const auto& [knob, how] : pack.effective) {
    if (starts_with(how, "log:")) {
      check_regex(top, "effective", how.substr(4));
    } else if (!starts_with(how, "GET /") || how.find('#') == std::string::npos) {
      throw top.error_at("effective", "entry of " + knob + " is `" + how + "`",
                         "write \"GET /path#/json/pointer\" or \"log:regex with one group\"");
    }
    if (pack.knob(knob) == nullptr) {
      throw top.error_at("effective", "names `" + knob + "`, which is no knob of this pack",
                         "add the knob or remove the entry");
    }
  }
}

void read_metrics(YamlReader& top, const std::string& file, Pack& pack) {
  YamlReader metrics(file, top.child("metrics"), "metrics");
  pack.metrics_path = metrics.text("path");
  pack.metrics = metrics.text_map("names");
  metrics.finish();
}

void read_builds(YamlReader& top, const std::string& file, Pack& pack) {
  YamlReader build(file, top.child("build"), "build");
  pack.build_targets = build.texts("targets");
  pack.server_binary = build.text("server");
  build.finish();
  for (const YAML::Node& node : top.children("builds")) {
    YamlReader item(file, node, "build recipe");
    BuildRecipe recipe;
    recipe.id = item.required_text("id");
    if (const std::string base = item.text("base"); !base.empty()) {
      if (pack.build(base) == nullptr) {
        throw item.error_at("base", "is `" + base + "`, which is no recipe above this one", "name an earlier recipe's id");
      }
      recipe.configure = pack.build(base)->configure;
      recipe.env = pack.build(base)->env;
    }
    for (std::string& argument : item.texts("configure")) recipe.configure.push_back(std::move(argument));
    for (auto& [name, value] : item.text_map("env")) recipe.env[name] = value;
    recipe.when = item.text("when");
    check_expression(item, "when", recipe.when);
    recipe.role = item.one_of("role", {"stock", "enable", "tune"}, "tune");
    recipe.directions = read_directions(item);
    item.finish();
    if (pack.build(recipe.id) != nullptr) {
      throw item.error(item.line(), "build recipe `" + recipe.id + "` stands twice", "rename one");
    }
    pack.builds.push_back(std::move(recipe));
  }
  const bool any = !pack.builds.empty();
  const auto stock = std::count_if(pack.builds.begin(), pack.builds.end(),
                                   [](const BuildRecipe& recipe) { return recipe.role == "stock"; });
  if (any && (stock != 1 || pack.server_binary.empty())) {
    throw top.error_at("builds", "needs exactly one recipe with `role: stock`, and build.server",
                       "mark the engine's own default build as stock, name its binary");
  }
}

std::optional<ToolCommand> read_tool(YamlReader& tools, const std::string& file, const std::string& key) {
  if (!tools.has(key)) return std::nullopt;
  YamlReader item(file, tools.child(key), "tool `" + key + "`");
  ToolCommand tool;
  tool.argv = item.texts("argv");
  tool.read = item.text_map("read");
  for (const auto& [name, regex] : tool.read) check_regex(item, "read", regex);
  item.finish();
  if (tool.argv.empty()) throw item.error(item.line(), "tool `" + key + "` has no argv", "add `argv: [...]`");
  return tool;
}

void read_tools(YamlReader& top, const std::string& file, Pack& pack) {
  YamlReader tools(file, top.child("tools"), "tools");
  pack.requantize = read_tool(tools, file, "requantize");
  pack.kl_base = read_tool(tools, file, "kl_base");
  pack.kl_compare = read_tool(tools, file, "kl_compare");
  pack.kl_flags = tools.texts("kl_flags");
  tools.finish();
}

void read_profile(YamlReader& top, const std::string& file, Pack& pack) {
  YamlReader profile(file, top.child("profile"), "profile");
  pack.kernel_symbols = profile.texts("kernels");
  pack.barrier_symbols = profile.texts("barriers");
  for (const std::string& regex : pack.barrier_symbols) check_regex(profile, "barriers", regex);
  for (const std::string& entry : pack.kernel_symbols) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      throw profile.error_at("kernels", "entry `" + entry + "` has no group", "write \"group=regex\"");
    }
    check_regex(profile, "kernels", entry.substr(equals + 1));
  }
  profile.finish();
}

Pack read_pack(const fs::path& path) {
  const std::string file = path.string();
  const YAML::Node node = parse_yaml(read_file(path), file);
  YamlReader top(file, node, "pack");
  Pack pack;
  pack.folder = path.parent_path();
  top.number("schema", 0, 1, 1);
  if (!top.has("schema")) throw top.error(1, "`schema` is missing", "add `schema: 1`");
  pack.name = top.required_text("name");
  pack.versions = top.text("versions");
  read_launch(top, file, pack);
  pack.help_argv = top.texts("help");
  pack.source = top.text_map("source");
  if (pack.source.count("root") != 0) pack.source_root = pack.source.at("root");
  read_metrics(top, file, pack);
  read_builds(top, file, pack);
  read_tools(top, file, pack);
  read_profile(top, file, pack);
  pack.knobs = read_knobs(top, file);
  pack.failures = read_failures(top, file);
  read_effective(top, pack);
  for (const std::string& flag : pack.kl_flags) {
    if (pack.knob(flag) == nullptr) {
      throw top.error_at("tools", "kl_flags names `" + flag + "`, which is no knob", "add the knob or remove it");
    }
  }
  top.finish();
  return pack;
}

}  // namespace

const char* name_of(Direction direction) {
  switch (direction) {
    case Direction::Memory: return "memory";
    case Direction::Compute: return "compute";
    case Direction::Host: return "host";
    case Direction::Communication: return "communication";
  }
  return "?";
}

std::optional<Direction> direction_from(const std::string& name) {
  for (const Direction direction :
       {Direction::Memory, Direction::Compute, Direction::Host, Direction::Communication}) {
    if (name == name_of(direction)) return direction;
  }
  return std::nullopt;
}

const Knob* Pack::knob(const std::string& name) const {
  for (const Knob& knob : knobs) {
    if (knob.name == name) return &knob;
  }
  return nullptr;
}

const BuildRecipe* Pack::build(const std::string& id) const {
  for (const BuildRecipe& recipe : builds) {
    if (recipe.id == id) return &recipe;
  }
  return nullptr;
}

Pack load_pack(const std::string& name_or_folder) {
  const bool is_name = name_or_folder.find('/') == std::string::npos;
  fs::path folder = is_name ? engines_root() / name_or_folder : fs::path(name_or_folder);
  if (name_or_folder.empty() || !fs::exists(folder / "pack.yaml")) {
    const std::vector<std::string> known = known_packs();
    throw bad_input("engine pack `" + name_or_folder + "`: no pack.yaml in " + folder.string() +
                        did_you_mean(name_or_folder, known),
                    "known packs: " + join(known, ", ") + "; or name a folder that holds a pack.yaml");
  }
  Pack pack = read_pack(folder / "pack.yaml");
  const fs::path common = engines_root() / "common" / "failures.yaml";
  if (fs::exists(common)) {
    YamlReader top(common.string(), parse_yaml(read_file(common), common.string()), "failures");
    top.number("schema", 0, 1, 1);
    for (FailurePattern& pattern : read_failures(top, common.string())) {
      pack.failures.push_back(std::move(pattern));
    }
    top.finish();
  }
  return pack;
}

std::vector<std::string> known_packs() {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(engines_root(), problem)) {
    if (fs::exists(entry.path() / "pack.yaml")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hyperloom
