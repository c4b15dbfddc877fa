#include "engine/yaml_reader.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "engine/expression.h"

namespace hyperloom {

struct YamlReader::Impl {
  std::string file;
  YAML::Node node;
  std::string where;
  std::vector<std::string> known;

  void ask(const std::string& key) {
    if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
  }
  YAML::Node get(const std::string& key) {
    ask(key);
    if (!node.IsDefined() || !node.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
    const YAML::Node& map = node;       // the const operator[] does not insert
    return map[key];
  }
};

YamlReader::YamlReader(std::string file, const YAML::Node& node, std::string where)
    : impl_(new Impl{std::move(file), node, std::move(where), {}}) {
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsMap()) {
    throw error(line(), impl_->where + " must be a map", "write it as `key: value` lines");
  }
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) throw error(entry.first.Mark().line + 1, "a key must be a word", "quote it");
    if (!seen.insert(entry.first.Scalar()).second) {
      throw error(entry.first.Mark().line + 1, "key `" + entry.first.Scalar() + "` stands twice",
                  "remove one of them");
    }
  }
}

YamlReader::~YamlReader() = default;

int YamlReader::line() const { return impl_->node.IsDefined() ? impl_->node.Mark().line + 1 : 0; }

int YamlReader::line_of(const std::string& key) const {
  const YAML::Node value = impl_->get(key);
  return value.IsDefined() ? value.Mark().line + 1 : line();
}

Error YamlReader::error(int line, const std::string& problem, const std::string& mend) const {
  return bad_input(impl_->file + ":" + std::to_string(std::max(line, 1)) + ": " + problem, mend);
}

Error YamlReader::error_at(const std::string& key, const std::string& problem,
                           const std::string& mend) const {
  return error(line_of(key), impl_->where + ": `" + key + "` " + problem, mend);
}

bool YamlReader::has(const std::string& key) {
  const YAML::Node value = impl_->get(key);
  return value.IsDefined() && !value.IsNull();
}

std::string YamlReader::text(const std::string& key, const std::string& otherwise) {
  if (!has(key)) return otherwise;
  const YAML::Node value = impl_->get(key);
  if (!value.IsScalar()) throw error_at(key, "must be one value", "write `" + key + ": value`");
  return value.Scalar();
}

std::string YamlReader::required_text(const std::string& key) {
  const std::string value = text(key);
  if (value.empty()) {
    throw error(line(), impl_->where + ": `" + key + "` is missing", "add `" + key + ": ...`");
  }
  return value;
}

std::string YamlReader::one_of(const std::string& key, const std::vector<std::string>& allowed,
                               const std::string& otherwise) {
  const std::string value = text(key, otherwise);
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    throw error_at(key, "is `" + value + "`" + did_you_mean(value, allowed),
                   "allowed: " + join(allowed, ", "));
  }
  return value;
}

double YamlReader::number(const std::string& key, double otherwise, double least, double most) {
  if (!has(key)) return otherwise;
  const Value value = value_of(text(key));
  const double* number = std::get_if<double>(&value);
  if (number == nullptr || *number < least || *number > most) {
    throw error_at(key, "is `" + text(key) + "`, not a number in range",
                   "write a number from " + text_of(least) + " to " + text_of(most));
  }
  return *number;
}

std::vector<std::string> YamlReader::texts(const std::string& key) {
  std::vector<std::string> result;
  if (!has(key)) return result;
  const YAML::Node list = impl_->get(key);
  if (!list.IsSequence()) throw error_at(key, "must be a list", "write `" + key + ": [a, b]`");
  for (const YAML::Node& item : list) {
    if (!item.IsScalar()) {
      throw error(item.Mark().line + 1, impl_->where + ": `" + key + "` holds something that is no single value",
                  "quote it");
    }
    result.push_back(item.Scalar());
  }
  return result;
}

std::map<std::string, std::string> YamlReader::text_map(const std::string& key) {
  std::map<std::string, std::string> result;
  if (!has(key)) return result;
  const YAML::Node map = impl_->get(key);
  const YamlReader checked(impl_->file, map, "`" + key + "`");
  for (const auto& entry : map) {
    if (!entry.second.IsScalar()) {
      throw error(entry.second.Mark().line + 1, "`" + key + "`: `" + entry.first.Scalar() + "` must be one value",
                  "quote it");
    }
    result[entry.first.Scalar()] = entry.second.Scalar();
  }
  return result;
}

YAML::Node YamlReader::child(const std::string& key) { return impl_->get(key); }

std::vector<YAML::Node> YamlReader::children(const std::string& key) {
  std::vector<YAML::Node> result;
  if (!has(key)) return result;
  const YAML::Node list = impl_->get(key);
  if (!list.IsSequence()) throw error_at(key, "must be a list of maps", "start each entry with `- `");
  for (const YAML::Node& item : list) result.push_back(item);
  return result;
}

void YamlReader::finish() {
  if (!impl_->node.IsDefined() || !impl_->node.IsMap()) return;
  for (const auto& entry : impl_->node) {
    const std::string key = entry.first.Scalar();
    if (std::find(impl_->known.begin(), impl_->known.end(), key) != impl_->known.end()) continue;
    throw error(entry.first.Mark().line + 1,
                impl_->where + ": unknown key `" + key + "`" + did_you_mean(key, impl_->known),
                "known keys: " + join(impl_->known, ", "));
  }
}

YAML::Node parse_yaml(const std::string& yaml, const std::string& file) {
  YAML::Node node;
  try {
    node = YAML::Load(yaml);
  } catch (const YAML::Exception& problem) {
    throw bad_input(file + ":" + std::to_string(problem.mark.line + 1) + ":" +
                        std::to_string(problem.mark.column + 1) + ": " + problem.msg,
                    "mend the YAML there");
  }
  if (!node.IsMap()) throw bad_input(file + ":1: must be a map of `key: value` lines", "see docs/packs.md");
  return node;
}

}  // namespace hyperloom
