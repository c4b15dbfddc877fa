// The pack's little language: numbers, 'strings', names (model.layers, machine.avx512f, traffic.clients,
// knob.-np), + - * / %, comparisons, and, or, not, parentheses. Missing names make a comparison false.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

namespace hyperloom {

using Value = std::variant<double, std::string>;
using Facts = std::map<std::string, Value>;

bool holds(const std::string& expression, const Facts& facts);                      // "" holds; Error(BadInput) on syntax
std::optional<Value> evaluate(const std::string& expression, const Facts& facts);   // nothing when a name is missing
std::set<std::string> names_in(const std::string& expression);                      // Error(BadInput) on syntax
std::string text_of(const Value& value);                                            // 8 not 8.0
Value value_of(const std::string& text);                                            // "8" is the number 8, "on" a string

}  // namespace hyperloom
