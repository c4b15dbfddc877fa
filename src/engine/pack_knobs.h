// The lists of a pack: knobs and failure patterns, each entry checked when it is read, not when it is used.
#pragma once

#include <string>
#include <vector>

#include "engine/pack.h"
#include "engine/yaml_reader.h"

namespace hyperloom {

// All throw Error(BadInput) with file:line.
std::vector<Knob> read_knobs(YamlReader& top, const std::string& file);
std::vector<FailurePattern> read_failures(YamlReader& top, const std::string& file);
std::vector<Direction> read_directions(YamlReader& item);
void check_regex(const YamlReader& item, const std::string& key, const std::string& regex);
void check_expression(const YamlReader& item, const std::string& key, const std::string& expression);

// "traffic.clients * 2" is one, "Q8_0" and "8" are literals.
bool is_expression(const std::string& value);

}  // namespace hyperloom
