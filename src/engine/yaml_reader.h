// Strict reading of a YAML map: every error names file:line and key, and keys nobody asked for are errors with
// the nearest known name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace YAML {
class Node;
}

namespace hyperloom {

// One map of a YAML file. Owner: the loader, on its stack; it must outlive none of the node's document.
class YamlReader {
 public:
  // `where` is what the map is to people: "knob `-np`". `node` may be null or undefined: then every key is absent.
  YamlReader(std::string file, const YAML::Node& node, std::string where);
  ~YamlReader();
  YamlReader(const YamlReader&) = delete;

  bool has(const std::string& key);
  int line() const;                                  // 1-based; of the map
  int line_of(const std::string& key) const;
  std::string text(const std::string& key, const std::string& otherwise = "");
  std::string required_text(const std::string& key);
  std::string one_of(const std::string& key, const std::vector<std::string>& allowed,
                     const std::string& otherwise);
  double number(const std::string& key, double otherwise, double least, double most);
  std::vector<std::string> texts(const std::string& key);                    // a list of scalars
  std::map<std::string, std::string> text_map(const std::string& key);
  YAML::Node child(const std::string& key);                                  // any node, undefined when absent
  std::vector<YAML::Node> children(const std::string& key);                  // a list of maps
  void finish();                                     // Error(BadInput) on a key that was never asked for

  Error error(int line, const std::string& problem, const std::string& mend) const;
  Error error_at(const std::string& key, const std::string& problem, const std::string& mend) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Error(BadInput) names file:line:column of a syntax error; the top must be a map.
YAML::Node parse_yaml(const std::string& yaml, const std::string& file);

}  // namespace hyperloom
