#include "engine/pack_knobs.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <regex>
#include <set>

#include "base/text.h"
#include "engine/expression.h"

namespace hyperloom {
namespace {

const std::vector<std::string> kNamespaces = {"model.", "machine.", "traffic.", "knob."};

Knob read_knob(const std::string& file, const YAML::Node& node) {
  YamlReader item(file, node, "knob");
  Knob knob;
  knob.line = item.line();
  knob.name = item.required_text("name");
  knob.kind = item.one_of("kind", {"flag", "env", "precision", "build", "patch", "table"}, "flag");
  knob.type = item.one_of("type", {"bool", "int", "float", "enum"}, "enum");
  knob.values = item.texts("values");
  knob.stock = item.text("stock", knob.type == "bool" ? "false" : "");
  knob.when = item.text("when");
  knob.forbid = item.text("forbid");
  check_expression(item, "when", knob.when);
  check_expression(item, "forbid", knob.forbid);
  if (is_expression(knob.stock)) check_expression(item, "stock", knob.stock);
  knob.numerics = item.one_of("numerics", {"exact", "approximate", "semantic"}, "exact");
  knob.cost = item.one_of("cost", {"boot", "requantize", "build"}, "boot");
  knob.directions = read_directions(item);
  knob.expert_rank = static_cast<int>(item.number("expert_rank", 100, 0, 1000));
  knob.see = item.text("see");
  knob.help_name = item.text("help_name", knob.kind == "flag" ? knob.name : "");
  knob.aliases = item.texts("aliases");
  knob.companions = item.text_map("companions");
  for (const auto& [flag, expression] : knob.companions) check_expression(item, "companions", expression);
  if (knob.type == "bool" && knob.values.empty()) knob.values = {"true"};
  for (const std::string& value : knob.values) {
    if (is_expression(value)) {
      check_expression(item, "values", value);
    } else if (knob.type == "bool" && value != "true" && value != "false") {
      throw item.error_at("values", "holds `" + value + "`, but the type is bool", "allowed: true, false");
    } else if ((knob.type == "int" || knob.type == "float") && value_of(value).index() != 0) {
      throw item.error_at("values", "holds `" + value + "`, which is no number and no expression",
                          "use type: enum for words");
    }
  }
  if (knob.kind == "flag" && !starts_with(knob.name, "-")) {
    throw item.error_at("name", "is `" + knob.name + "`, but a flag starts with -", "use kind: env for a variable");
  }
  item.finish();
  return knob;
}

// A rule about a knob that does not exist would silently never apply.
void check_knob_references(YamlReader& top, const std::vector<Knob>& knobs) {
  std::vector<std::string> names;
  for (const Knob& knob : knobs) names.push_back("knob." + knob.name);
  for (const Knob& knob : knobs) {
    std::vector<std::string> expressions = {knob.when, knob.forbid};
    for (const auto& [flag, expression] : knob.companions) expressions.push_back(expression);
    for (const std::string& expression : expressions) {
      for (const std::string& name : names_in(expression)) {
        if (!starts_with(name, "knob.")) continue;
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        throw top.error(knob.line, "knob `" + knob.name + "`: `" + name + "` is no knob of this pack" +
                                       did_you_mean(name, names),
                        "add the knob (values: [] when it is never to be changed), or mend the name");
      }
    }
  }
}

}  // namespace

bool is_expression(const std::string& value) {
  for (const std::string& name_space : kNamespaces) {
    if (value.find(name_space) != std::string::npos) return true;
  }
  return false;
}

void check_regex(const YamlReader& item, const std::string& key, const std::string& regex) {
  try {
    const std::regex compiled(regex);
  } catch (const std::regex_error& problem) {
    throw item.error_at(key, "is no regular expression: `" + regex + "`: " + problem.what(),
                        "ECMAScript syntax; in YAML put it into single quotes");
  }
}

void check_expression(const YamlReader& item, const std::string& key, const std::string& expression) {
  std::set<std::string> names;
  try {
    names = names_in(expression);
  } catch (const Error& problem) {
    throw item.error_at(key, std::string(": ") + problem.what(), problem.mend());
  }
  for (const std::string& name : names) {
    const std::string name_space = name.substr(0, name.find('.') + 1);
    bool known = false;
    for (const std::string& candidate : kNamespaces) known = known || candidate == name_space;
    if (!known) {
      throw item.error_at(key, "names `" + name + "`" + did_you_mean(name_space, kNamespaces),
                          "names start with " + join(kNamespaces, " "));
    }
  }
}

std::vector<Direction> read_directions(YamlReader& item) {
  std::vector<Direction> directions;
  for (const std::string& name : item.texts("directions")) {
    const std::optional<Direction> direction = direction_from(name);
    if (!direction) {
      const std::vector<std::string> allowed = {"memory", "compute", "host", "communication"};
      throw item.error_at("directions", "holds `" + name + "`" + did_you_mean(name, allowed),
                          "allowed: " + join(allowed, ", "));
    }
    directions.push_back(*direction);
  }
  return directions;
}

std::vector<Knob> read_knobs(YamlReader& top, const std::string& file) {
  std::vector<Knob> knobs;
  std::set<std::string> seen;
  for (const YAML::Node& node : top.children("knobs")) {
    knobs.push_back(read_knob(file, node));
    if (!seen.insert(knobs.back().name).second) {
      throw top.error(knobs.back().line, "knob `" + knobs.back().name + "` stands twice", "remove one");
    }
  }
  check_knob_references(top, knobs);
  return knobs;
}

std::vector<FailurePattern> read_failures(YamlReader& top, const std::string& file) {
  std::vector<FailurePattern> failures;
  for (const YAML::Node& node : top.children("failures")) {
    YamlReader item(file, node, "failure");
    FailurePattern pattern;
    pattern.id = item.required_text("id");
    pattern.phase = item.one_of("phase", {"", "launch", "serving"}, "");
    pattern.match = item.required_text("match");
    pattern.unless = item.text("unless");
    check_regex(item, "match", pattern.match);
    check_regex(item, "unless", pattern.unless);
    pattern.failure_class = item.required_text("class");
    pattern.first_move = item.text("first_move");
    for (const auto& [knob, value] : item.text_map("tries")) pattern.tries.emplace_back(knob, value);
    pattern.rung = item.one_of("rung", {"flags", "patch", "checkout", "rebuild", "none"}, "none");
    item.finish();
    failures.push_back(std::move(pattern));
  }
  return failures;
}

}  // namespace hyperloom
