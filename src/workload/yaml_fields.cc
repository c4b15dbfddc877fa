#include "workload/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace hyperloom {
namespace {

// Exactly one number, or nothing: YAML libraries disagree on 1_000, 0x10 and 1e3.
std::optional<double> number_from(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_special(const std::string& text) {
  const size_t from = text.find_first_not_of("+-.");
  if (from == std::string::npos) return false;
  std::string word = text.substr(from);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return word == "nan" || word == "inf" || word == "infinity";
}

// "1h30m" -> 5400; nothing when it is no duration.
std::optional<double> duration_from(const std::string& text) {
  static const std::map<std::string, double> kUnits = {{"s", 1},    {"sec", 1},  {"m", 60},
                                                       {"min", 60}, {"h", 3600}, {"d", 86400}};
  double total = 0;
  size_t at = 0;
  bool any = false;
  while (at < text.size()) {
    const size_t digits = text.find_first_not_of("0123456789.", at);
    if (digits == at || digits == std::string::npos) return std::nullopt;
    const auto value = number_from(std::string_view(text).substr(at, digits - at));
    const size_t unit = text.find_first_not_of(' ', digits);
    if (!value || unit == std::string::npos) return std::nullopt;
    size_t end = unit;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
    const auto found = kUnits.find(text.substr(unit, end - unit));
    if (found == kUnits.end()) return std::nullopt;
    total += *value * found->second;
    any = true;
    at = text.find_first_not_of(' ', end);
    if (at == std::string::npos) break;
  }
  return any ? std::optional(total) : std::nullopt;
}

std::string shown(double value) { return fmt::format("{}", value); }

}  // namespace

YamlFields::YamlFields(const YAML::Node& node, std::string file, std::string path,
                       std::vector<std::string> known)
    : file_(std::move(file)), path_(std::move(path)), mark_(node.Mark()) {
  const std::string here = path_.empty() ? "the file" : path_;
  if (!node.IsMap())
    throw error(
        "", node.IsNull() ? "is empty" : "must be a map",
        fmt::format("write {} as keys and values; known here: {}", here, join(known, ", ")));
  for (const auto& item : node) {
    if (!item.first.IsScalar())
      throw error_at(item.first, path_, "a key must be plain text", "write key: value");
    const std::string key = item.first.Scalar();
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw error_at(item.first, field(key), "unknown key" + did_you_mean(key, known),
                     "known here: " + join(known, ", "));
    if (!values_.emplace(key, item.second).second)
      throw error_at(item.first, field(key), "stands here twice", "remove one of the two");
    if (item.second.IsNull())
      throw error_at(item.first, field(key), "has no value", "give it a value or remove the line");
  }
}

std::string YamlFields::field(const std::string& key) const {
  return path_.empty() ? key : key.empty() ? path_ : path_ + "." + key;
}

Error YamlFields::error_at(const YAML::Node& node, const std::string& field,
                           const std::string& what, const std::string& mend) const {
  const YAML::Mark mark = node.Mark();
  const int line = (mark.is_null() ? mark_.line : mark.line) + 1;
  return bad_input(fmt::format("{}:{}: {}{}{}", file_, std::max(line, 1), field,
                               field.empty() ? "" : ": ", what),
                   mend);
}

Error YamlFields::error(const std::string& key, const std::string& what,
                        const std::string& mend) const {
  const auto found = values_.find(key);
  if (found != values_.end()) return error_at(found->second, field(key), what, mend);
  return bad_input(fmt::format("{}:{}: {}{}{}", file_, std::max(mark_.line + 1, 1), field(key),
                               field(key).empty() ? "" : ": ", what),
                   mend);
}

YamlFields YamlFields::map(const std::string& key, std::vector<std::string> known) const {
  const auto found = values_.find(key);
  if (found != values_.end()) return YamlFields(found->second, file_, field(key), std::move(known));
  YamlFields empty(YAML::Node(YAML::NodeType::Map), file_, field(key), std::move(known));
  empty.mark_ = mark_;
  return empty;
}

std::string YamlFields::scalar(const YAML::Node& node, const std::string& field,
                               const char* wanted) const {
  if (!node.IsScalar())
    throw error_at(node, field, std::string("must be ") + wanted, "write one plain value");
  const std::string& text = node.Scalar();
  if (text.find('\0') != std::string::npos)
    throw error_at(node, field, "holds a NUL character", "remove it");
  return text;
}

double YamlFields::parse_number(const std::string& key, const char* wanted) const {
  const std::string text = scalar(values_.at(key), field(key), wanted);
  if (is_special(text))
    throw error(key, "`" + text + "` is not a finite number", std::string("write ") + wanted);
  const auto value = number_from(text);
  if (!value) throw error(key, "`" + text + "` is not a number", std::string("write ") + wanted);
  if (!std::isfinite(*value))
    throw error(key, "`" + text + "` is too large", std::string("write ") + wanted);
  return *value;
}

void YamlFields::check(const std::string& key, double value, const Range& range) const {
  if (value > range.high)
    throw error(key, shown(value) + " is too large", "at most " + shown(range.high));
  if (value < range.low || (range.low_open && value == range.low))
    throw error(key, shown(value) + " is too small",
                (range.low_open ? "above " : "at least ") + shown(range.low));
}

double YamlFields::number(const std::string& key, double otherwise, const Range& range) const {
  if (!has(key)) return otherwise;
  const double value = parse_number(key, "a number such as 0.5");
  check(key, value, range);
  return value;
}

double YamlFields::duration(const std::string& key, double otherwise, const Range& range) const {
  if (!has(key)) return otherwise;
  static constexpr char kWanted[] = "seconds, or a duration such as 90s, 25m, 1h30m";
  const auto value = duration_from(scalar(values_.at(key), field(key), kWanted));
  const double seconds = value ? *value : parse_number(key, kWanted);
  check(key, seconds, range);
  return seconds;
}

int64_t YamlFields::whole(const std::string& key, int64_t otherwise, int64_t low,
                          int64_t high) const {
  if (!has(key)) return otherwise;
  const double value = parse_number(key, "a whole number");
  // Above 2^53 a double no longer holds every whole number: refused by `high`, not rounded.
  if (value != std::floor(value))
    throw error(key, shown(value) + " is not a whole number", "write a whole number");
  check(key, value, {static_cast<double>(low), static_cast<double>(high)});
  return static_cast<int64_t>(value);
}

bool YamlFields::flag(const std::string& key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const YAML::Node& value = values_.at(key);
  bool result = false;
  if (!value.IsScalar() || !YAML::convert<bool>::decode(value, result))
    throw error(key, "must be true or false", "write true or false");
  return result;
}

std::string YamlFields::text(const std::string& key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  std::string value = scalar(values_.at(key), field(key), "text");
  if (trim(value).empty()) throw error(key, "is empty", "give it a value or remove the line");
  return value;
}

std::string YamlFields::choice(const std::string& key, const std::string& otherwise,
                               const std::vector<std::string>& allowed) const {
  const std::string value = text(key, otherwise);
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw error(key, "`" + value + "` is not known" + did_you_mean(value, allowed),
                "one of: " + join(allowed, ", "));
  return value;
}

std::vector<std::string> YamlFields::list(const std::string& key) const {
  std::vector<std::string> result;
  if (!has(key)) return result;
  const YAML::Node& value = values_.at(key);
  if (!value.IsSequence())
    throw error(key, "must be a list",
                "write [first, second]: one item a word, never a shell line");
  for (const auto& item : value)
    result.push_back(scalar(item, field(key), "a list of plain texts"));
  return result;
}

std::map<std::string, std::string> YamlFields::texts(const std::string& key) const {
  std::map<std::string, std::string> result;
  if (!has(key)) return result;
  const YAML::Node& value = values_.at(key);
  if (!value.IsMap()) throw error(key, "must be a map", "write {NAME: value}");
  for (const auto& item : value) {
    const std::string name = scalar(item.first, field(key), "a map of plain texts");
    if (!result.emplace(name, scalar(item.second, field(key) + "." + name, "plain text")).second)
      throw error_at(item.first, field(key) + "." + name, "stands here twice",
                     "remove one of the two");
  }
  return result;
}

}  // namespace hyperloom
