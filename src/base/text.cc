#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hyperloom {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (true) {
    const size_t next = text.find(separator, at);
    parts.emplace_back(text.substr(at, next - at));
    if (next == std::string_view::npos) return parts;
    at = next + 1;
  }
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const size_t end = text.find_first_of(kBlanks, at);
    words.emplace_back(text.substr(at, end - at));
    at = end == std::string_view::npos ? end : text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix);
}
bool ends_with(std::string_view text, std::string_view suffix) { return text.ends_with(suffix); }

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  size_t at = 0;
  while ((at = text.find(from, at)) != std::string::npos) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = word.size() / 2 + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string found = nearest(word, known);
  return found.empty() ? "" : " (did you mean `" + found + "`?)";
}

std::string shell_quote(std::string_view text) {
  static constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kSafe) == std::string_view::npos)
    return std::string(text);
  return "'" + replace_all(std::string(text), "'", "'\\''") + "'";
}

std::string html_escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 9.95) {
    std::string text = fmt::format("{:.1f}", seconds);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text + " s";
  }
  const long long total = std::llround(seconds);
  if (total < 60) return fmt::format("{} s", total);
  const long long minutes = total / 60;
  if (minutes < 60) {
    return total % 60 ? fmt::format("{} min {} s", minutes, total % 60)
                      : fmt::format("{} min", minutes);
  }
  const long long rounded = std::llround(seconds / 60);
  return rounded % 60 ? fmt::format("{} h {} min", rounded / 60, rounded % 60)
                      : fmt::format("{} h", rounded / 60);
}

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes)) return "unknown";
  if (bytes < 0) return "-" + format_bytes(-bytes);
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  static constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  double value = bytes / 1000;
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace hyperloom
