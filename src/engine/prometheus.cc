// Prometheus text exposition, as far as the counters of an inference server need it (engine/server.h).
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "engine/server.h"

namespace hyperloom {
namespace {

// The index just past the `}` that closes the labels opening at `at`; quotes may hold escaped quotes and braces.
size_t past_labels(const std::string& line, size_t at) {
  bool quoted = false;
  for (++at; at < line.size(); ++at) {
    if (quoted && line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && line[at] == '}') {
      return at + 1;
    }
  }
  return std::string::npos;
}

// le="0.1" of a bucket's labels, or "".
std::string bucket_label(const std::string& labels) {
  const size_t start = labels.find("le=\"");
  if (start == std::string::npos) return "";
  const size_t end = labels.find('"', start + 4);
  return end == std::string::npos ? "" : labels.substr(start, end + 1 - start);
}

bool is_counter(const std::string& name) {
  return ends_with(name, "_total") || ends_with(name, "_sum") || ends_with(name, "_count") ||
         name.find("_bucket") != std::string::npos;
}

}  // namespace

std::map<std::string, double> parse_prometheus(const std::string& text) {
  std::map<std::string, double> samples;
  for (const std::string& raw : split(text, '\n')) {
    const std::string line = trim(raw);
    if (line.empty() || line[0] == '#') continue;
    const size_t name_end = line.find_first_of("{ \t");
    if (name_end == std::string::npos || name_end == 0) continue;
    std::string name = line.substr(0, name_end);
    size_t at = name_end;
    if (line[at] == '{') {
      at = past_labels(line, name_end);
      if (at == std::string::npos) continue;
      const std::string le = ends_with(name, "_bucket") ? bucket_label(line.substr(name_end, at - name_end)) : "";
      if (!le.empty()) name += "{" + le + "}";
    }
    const std::vector<std::string> words = split_words(line.substr(at));
    if (words.empty()) continue;
    char* end = nullptr;
    const double value = std::strtod(words[0].c_str(), &end);
    if (end == words[0].c_str() || *end != '\0' || !std::isfinite(value)) continue;
    // Series of one name add up; a sum that overflows is as little a figure as Inf is.
    const auto known = samples.find(name);
    if (known == samples.end()) samples[name] = value;
    else if (std::isfinite(known->second + value)) known->second += value;
  }
  return samples;
}

std::optional<double> sample_of(const std::map<std::string, double>& samples, const std::string& name) {
  const std::string other = ends_with(name, "_total") ? name.substr(0, name.size() - 6) : name + "_total";
  for (const std::string& spelling : {name, other}) {
    const auto found = samples.find(spelling);
    if (found != samples.end()) return found->second;
  }
  return std::nullopt;
}

MetricsDelta metrics_between(const std::map<std::string, double>& before, const std::map<std::string, double>& after) {
  MetricsDelta delta;
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (earlier == before.end()) {
      delta.values[name] = value;
    } else if (name == "process_start_time_seconds") {
      if (earlier->second != value) delta.restarted = true;
    } else if (is_counter(name)) {
      if (value < earlier->second) delta.restarted = true;
      if (std::isfinite(value - earlier->second)) delta.values[name] = value - earlier->second;
    } else {
      delta.values[name] = value;
    }
  }
  return delta;
}

}  // namespace hyperloom
