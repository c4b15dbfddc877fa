// Strict reading of a YAML map that a person wrote: every value is checked where it stands, and
// every error names file:line, the field and the mend. Internal to the room: yaml-cpp stays out of
// the other rooms.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace hyperloom {

struct Range {
  double low = 0, high = 0;
  bool low_open = false;  // low itself is not allowed
};

class YamlFields {
 public:
  // `path` is "" at the top, "traffic" below; `known` are all keys that may stand here.
  // Error(BadInput) when the node is no map, or holds a key that is unknown or there twice.
  YamlFields(const YAML::Node& node, std::string file, std::string path,
             std::vector<std::string> known);

  bool has(const std::string& key) const { return values_.count(key) > 0; }
  const YAML::Node& node(const std::string& key) const { return values_.at(key); }
  YamlFields map(const std::string& key,
                 std::vector<std::string> known) const;  // empty when absent

  double number(const std::string& key, double otherwise, const Range& range) const;
  // Seconds: a number, or text such as "25m", "1h30m", "90 s".
  double duration(const std::string& key, double otherwise, const Range& range) const;
  int64_t whole(const std::string& key, int64_t otherwise, int64_t low, int64_t high) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise = "") const;
  std::string choice(const std::string& key, const std::string& otherwise,
                     const std::vector<std::string>& allowed) const;
  std::vector<std::string> list(const std::string& key) const;  // of plain texts
  std::map<std::string, std::string> texts(const std::string& key) const;

  // The error about `key` here, or about the map itself when `key` is "".
  Error error(const std::string& key, const std::string& what, const std::string& mend = "") const;
  Error error_at(const YAML::Node& node, const std::string& field, const std::string& what,
                 const std::string& mend) const;
  std::string field(const std::string& key) const;
  const std::string& file() const { return file_; }

 private:
  std::string scalar(const YAML::Node& node, const std::string& field, const char* wanted) const;
  double parse_number(const std::string& key, const char* wanted) const;
  void check(const std::string& key, double value, const Range& range) const;

  std::string file_, path_;
  YAML::Mark mark_;
  std::map<std::string, YAML::Node> values_;
};

}  // namespace hyperloom
