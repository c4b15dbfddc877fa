#include "engine/readback.h"

#include <nlohmann/json.hpp>
#include <regex>

#include "base/json.h"
#include "base/text.h"
#include "engine/expression.h"
#include "net/http.h"

namespace hyperloom {
namespace {

constexpr double kTimeoutS = 10;

std::optional<std::string> json_text_at(const std::string& body, const std::string& pointer) {
  const Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  try {
    const Json& value = json.at(Json::json_pointer(pointer));
    if (value.is_structured() || value.is_null()) return std::nullopt;
    return value.is_string() ? value.get<std::string>() : value.dump();
  } catch (const Json::exception&) {
    return std::nullopt;   // not there, or no pointer
  }
}

std::optional<std::string> from_log(const std::vector<std::string>& lines, const std::string& pattern) {
  const std::regex regex(pattern);
  std::smatch match;
  for (const std::string& line : lines) {
    if (std::regex_search(line, match, regex) && match.size() > 1) return match[1].str();
  }
  return std::nullopt;
}

}  // namespace

std::map<std::string, std::string> read_effective(const Pack& pack, const std::string& url, const std::string& log) {
  std::map<std::string, std::string> result, bodies;
  std::vector<std::string> lines;
  for (const auto& [knob, how] : pack.effective) {
    std::optional<std::string> value;
    if (starts_with(how, "log:")) {
      if (lines.empty()) lines = clean_log_lines(log, 600);
      value = from_log(lines, how.substr(4));
    } else {
      const size_t hash = how.find('#');
      const std::string path = how.substr(4, hash - 4);
      if (bodies.count(path) == 0) bodies[path] = http_call({.url = url + path, .timeout_s = kTimeoutS}).body;
      value = json_text_at(bodies[path], how.substr(hash + 1));
    }
    if (value) result[knob] = *value;
  }
  return result;
}

std::optional<Failure> find_ignored(const std::map<std::string, std::string>& expected,
                                    const std::map<std::string, std::string>& effective) {
  for (const auto& [knob, asked] : expected) {
    const auto got = effective.find(knob);
    if (got == effective.end() || value_of(got->second) == value_of(asked)) continue;
    return Failure{"ignored_flag", "ignored_flag", knob + ": asked for " + asked + ", the engine runs with " + got->second,
                   "flags", "the engine overrides this setting: drop it or set what it depends on"};
  }
  return std::nullopt;
}

}  // namespace hyperloom
