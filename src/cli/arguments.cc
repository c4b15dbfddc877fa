#include "cli/arguments.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "workload/names.h"

namespace hyperloom {
namespace {

// The whole of `text` as a number; false when it is none.
bool number_of(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && !std::isspace(static_cast<unsigned char>(text[0])) && *end == 0 && std::isfinite(value);
}

}  // namespace

std::vector<std::string> split_command(const std::string& text, const std::string& what) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'') {
      if (c == '\'') quote = 0;
      else word += c;
    } else if (c == '\\') {
      if (++i == text.size()) throw bad_input("the command of " + what + " ends in a backslash: " + text, "remove it, or escape a character with it");
      // Within "..." a backslash is itself, unless it escapes what would end or start something.
      if (quote == '"' && std::string("\"\\$`\n").find(text[i]) == std::string::npos) word += c;
      word += text[i];
      in_word = true;
    } else if (quote == '"') {
      if (c == '"') quote = 0;
      else word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote) throw bad_input("the command of " + what + " has an open " + quote + ": " + text, "close the quote");
  if (in_word) words.push_back(std::move(word));
  if (words.empty()) throw bad_input("the command of " + what + " is empty", "give a launch command with {port}, or a URL");
  return words;
}

std::vector<std::string> launch_words(const std::string& text, const std::string& what) {
  std::vector<std::string> words = split_command(text, what);
  bool port = false;
  for (std::string& word : words) {
    word = replace_all(replace_all(word, "${port}", "{port}"), "{port}", "${port}");
    port |= word.find("${port}") != std::string::npos;
  }
  if (!port)
    throw bad_input("the command of " + what + " has no {port}: " + text,
                    "write {port} where the server's port belongs, as in `my-server --port {port}`");
  return words;
}

bool is_url(const std::string& text) { return starts_with(text, "http://") || starts_with(text, "https://"); }

std::string checked_url(const std::string& url, const std::string& flag) {
  const size_t host = url.find("://");
  if (!is_url(url) || host + 3 >= url.size() || url[host + 3] == '/' || url.find_first_of(" \t\n") != std::string::npos)
    throw bad_input(flag + " `" + url + "` is no URL of a server", "write it as http://127.0.0.1:8080");
  std::string clean = url;
  while (ends_with(clean, "/")) clean.pop_back();
  return clean;
}

Limit parse_limit(const std::string& text, const std::string& flag) {
  const std::string shape = "write it as ttft:p95:500 (ms) or ttft:p95<0.5s; metrics: " + join(limit_metrics(), ", ") + "; percentiles: p50, p90, p95, p99";
  const auto refuse = [&](const std::string& why) { return bad_input(flag + " `" + text + "`: " + why, shape); };
  const std::vector<std::string> parts = split(replace_all(replace_all(text, "<=", ":"), "<", ":"), ':');
  if (parts.size() != 3) throw refuse("it has " + std::to_string(parts.size()) + " parts, not 3");
  Limit limit;
  limit.metric = trim(parts[0]);
  const auto& metrics = limit_metrics();
  if (std::find(metrics.begin(), metrics.end(), limit.metric) == metrics.end())
    throw refuse("unknown metric `" + limit.metric + "`" + did_you_mean(limit.metric, metrics));
  if (!starts_with(parts[1], "p") || !number_of(parts[1].substr(1), limit.percentile) ||
      (limit.percentile != 50 && limit.percentile != 90 && limit.percentile != 95 && limit.percentile != 99))
    throw refuse("percentile `" + parts[1] + "` is not measured");
  std::string time = parts[2];
  const double unit = ends_with(time, "s") && !ends_with(time, "ms") ? 1000 : 1;
  if (ends_with(time, "s")) time.resize(time.size() - (unit == 1 ? 2 : 1));
  if (!number_of(time, limit.max_ms) || limit.max_ms <= 0) throw refuse("`" + parts[2] + "` is no time above 0");
  limit.max_ms *= unit;
  return limit;
}

std::vector<std::string> slo_limits(const std::string& text) {
  std::vector<std::string> limits;
  for (const std::string& part : split(text, ',')) {
    const Limit limit = parse_limit(part, "--slo");
    for (const std::string& other : limits)
      if (const Limit seen = parse_limit(other, "--slo"); seen.metric == limit.metric && seen.percentile == limit.percentile)
        throw bad_input("--slo `" + text + "`: " + other + " and " + part + " limit the same", "keep one of them");
    limits.push_back(part);
  }
  return limits;
}

std::string goodput_limit(const std::string& text) {
  const std::string shape = "write it as --goodput ttft:500 tpot:40 e2el:3000 (ms); for another percentile use --limit ttft:p95:500";
  const std::vector<std::string> parts = split(text, ':');
  const std::vector<std::string> metrics = {"ttft", "tpot", "e2el"};
  double ms = 0;
  if (parts.size() != 2) throw bad_input("--goodput `" + text + "` is no metric and time", shape);
  if (std::find(metrics.begin(), metrics.end(), parts[0]) == metrics.end())
    throw bad_input("--goodput `" + text + "`: unknown metric `" + parts[0] + "`" + did_you_mean(parts[0], metrics), shape);
  if (!number_of(parts[1], ms) || ms <= 0)
    throw bad_input("--goodput `" + text + "`: `" + parts[1] + "` is no time above 0", shape);
  return (parts[0] == "e2el" ? "e2e" : parts[0]) + ":p99:" + parts[1];
}

std::string checked_header(const std::string& text) {
  const size_t end = text.find_first_of(":=");
  const std::string name = text.substr(0, end == std::string::npos ? 0 : end);
  if (name.empty() || name.find_first_of(" \t\r\n") != std::string::npos || text.find_first_of("\r\n") != std::string::npos)
    throw bad_input("--header `" + text + "` is no header", "write it as \"Name: value\"");
  return name + ": " + trim(text.substr(end + 1));
}

SweepSteps parse_sweep(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return bad_input("--sweep `" + text + "`: " + why, "write clients, rate, or their steps, as clients:1,8,64 or rate:0.5,1,2");
  };
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (kind != "clients" && kind != "rate") throw refuse("unknown kind of load `" + kind + "`" + did_you_mean(kind, {"clients", "rate"}));
  SweepSteps steps{.by_rate = kind == "rate"};
  if (colon == std::string::npos) return steps;
  for (const std::string& part : split(text.substr(colon + 1), ',')) {
    double load = 0;
    if (!number_of(part, load) || load <= 0) throw refuse("`" + part + "` is no load above 0");
    if (!steps.by_rate && (load != std::floor(load) || load > 1e6)) throw refuse(part + " is no number of clients");
    if (!steps.loads.empty() && load <= steps.loads.back()) throw refuse(part + " does not rise");
    steps.loads.push_back(load);
  }
  return steps;
}

}  // namespace hyperloom
