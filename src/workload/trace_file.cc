#include "workload/trace_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "workload/line_reader.h"

namespace hyperloom {
namespace {

constexpr int kMostTokens = 10'000'000;
constexpr double kMostSeconds = 1e10;
constexpr const char* kForms =
    R"(a trace is JSON lines {"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": [1, 2]}, or CSV TIMESTAMP,ContextTokens,GeneratedTokens)";

template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// --- JSON lines

double number_of(const Json& line, const char* key, const LineReader& at) {
  const auto found = line.find(key);
  if (found == line.end()) throw at.error(std::string("this line has no \"") + key + "\"", kForms);
  if (!found->is_number()) throw at.error(std::string("\"") + key + "\" is no number", kForms);
  return found->get<double>();
}

int length_of(double tokens, const char* what, const LineReader& at, int least) {
  if (!(tokens >= least) || tokens > kMostTokens || tokens != std::floor(tokens))
    throw at.error(std::string("\"") + what + "\" is " + Json(tokens).dump(),
                   "a whole number of tokens from " + std::to_string(least) + " to 10 million");
  return static_cast<int>(tokens);
}

TraceEntry entry_from_json(std::string_view text, const LineReader& at) {
  const Json line = Json::parse(text, nullptr, false);
  if (line.is_discarded())
    throw at.error(at.cut() ? "this last line is cut short" : "this line is no JSON", at.cut() ? "fetch the file again, or remove the line" : kForms);
  if (!line.is_object()) throw at.error("this line is no JSON object", kForms);
  TraceEntry entry;
  entry.at_s = number_of(line, "timestamp", at) / 1e3;
  entry.prompt_tokens = length_of(number_of(line, "input_length", at), "input_length", at, 1);
  entry.output_tokens = length_of(number_of(line, "output_length", at), "output_length", at, 0);
  const auto ids = line.find("hash_ids");
  if (ids == line.end()) return entry;
  if (!ids->is_array()) throw at.error("\"hash_ids\" is no list", kForms);
  for (const Json& id : *ids) {
    if (!id.is_number_integer() || (!id.is_number_unsigned() && id.get<int64_t>() < 0))
      throw at.error("\"hash_ids\" holds what is no whole number from 0 on", kForms);
    entry.hash_ids.push_back(id.get<uint64_t>());
  }
  const size_t blocks = static_cast<size_t>(entry.prompt_tokens + kTraceBlockTokens - 1) / kTraceBlockTokens;
  if (entry.hash_ids.size() > blocks)
    throw at.error(std::to_string(entry.hash_ids.size()) + " hash_ids for " + std::to_string(entry.prompt_tokens) + " tokens",
                   "each stands for " + std::to_string(kTraceBlockTokens) + " tokens: at most " + std::to_string(blocks) + " here");
  return entry;
}

// --- CSV

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const size_t comma = line.find(',');
    std::string_view cell = line.substr(0, comma);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"')) cell.remove_suffix(1);
    cells.push_back(cell);
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

// "HH:MM" after a sign, in seconds; nothing when it is none.
std::optional<double> offset_from(std::string_view text) {
  if (text.empty() || text == "Z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto hours = number_from<unsigned>(text.substr(1, 2)), minutes = number_from<unsigned>(text.substr(4, 2));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -60.0 : 60.0) * (*hours * 60 + *minutes);
}

// "2023-11-16 18:15:46.6805900", as seconds from a fixed day (small, so that the fraction keeps its digits).
std::optional<double> moment_from(std::string_view text) {
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto part = [&](size_t from, size_t count) { return number_from<unsigned>(text.substr(from, count)); };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2), hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!year || !month || !day || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  text.remove_prefix(19);
  double fraction = 0;
  if (!text.empty() && text[0] == '.') {
    const size_t digits = std::min(text.find_first_not_of("0123456789", 1), text.size());
    const auto value = number_from<double>("0" + std::string(text.substr(0, digits)));
    if (!value || digits == 1) return std::nullopt;
    fraction = *value;
    text.remove_prefix(digits);
  }
  const auto offset = offset_from(text);
  if (!offset) return std::nullopt;
  const auto days = std::chrono::sys_days(date) - std::chrono::sys_days(std::chrono::year(2020) / 1 / 1);
  return static_cast<double>(days.count()) * 86400 + *hour * 3600 + *minute * 60 + *second + fraction - *offset;
}

struct Columns { size_t time = 0, prompt = 0, output = 0, count = 0; };

Columns columns_of(std::string_view line, const LineReader& at) {
  const std::vector<std::string_view> cells = cells_of(line);
  const auto place = [&](std::string_view name) {
    const auto found = std::find(cells.begin(), cells.end(), name);
    if (found == cells.end()) throw at.error("no column " + std::string(name) + " is named here", kForms);
    return static_cast<size_t>(found - cells.begin());
  };
  return {place("TIMESTAMP"), place("ContextTokens"), place("GeneratedTokens"), cells.size()};
}

TraceEntry entry_from_csv(std::string_view line, const Columns& columns, const LineReader& at) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() != columns.count)
    throw at.error(std::to_string(cells.size()) + " cells, but the first line names " + std::to_string(columns.count),
                   at.cut() ? "fetch the file again, or remove the line" : "one entry a line, cells parted by commas");
  auto time = moment_from(cells[columns.time]);
  if (!time) time = number_from<double>(cells[columns.time]);
  if (!time || !std::isfinite(*time))
    throw at.error("TIMESTAMP is `" + std::string(cells[columns.time].substr(0, 40)) + "`", "write it as 2023-11-16 18:15:46.68, or as seconds");
  const auto length = [&](size_t column, const char* name, int least) {
    const auto tokens = number_from<double>(cells[column]);
    if (!tokens) throw at.error(std::string(name) + " is `" + std::string(cells[column].substr(0, 40)) + "`, no number", kForms);
    return length_of(*tokens, name, at, least);
  };
  return {*time, length(columns.prompt, "ContextTokens", 1), length(columns.output, "GeneratedTokens", 0), {}};
}

std::ifstream opened(const std::string& file) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) throw bad_input("trace " + file + " is a folder", "name the file itself");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw bad_input("trace " + file + " cannot be read: " + std::strerror(errno), "check the path and who may read it");
  return in;
}

// Mean and coefficient of variation without the values (Welford 1962).
class Running {
 public:
  void add(double value) {
    const double step = value - mean_;
    mean_ += step / ++count_;
    squares_ += step * (value - mean_);
  }
  Spread spread() const { return {mean_, count_ > 1 ? std::sqrt(squares_ / count_) / mean_ : 0}; }

 private:
  double count_ = 0, mean_ = 0, squares_ = 0;
};

}  // namespace

void read_trace(std::istream& in, const std::string& name, const std::function<bool(TraceEntry&)>& on_entry) {
  LineReader reader(in, name);
  std::string_view line;
  if (!reader.next(line)) throw bad_input("trace " + name + " is empty", kForms);
  const bool json = line[0] == '{';
  const Columns columns = json ? Columns{} : columns_of(line, reader);
  double first_s = 0, last_s = 0;
  size_t entries = 0;
  for (bool more = json || reader.next(line); more; more = reader.next(line)) {
    TraceEntry entry = json ? entry_from_json(line, reader) : entry_from_csv(line, columns, reader);
    if (entries++ == 0) first_s = last_s = entry.at_s;
    if (entry.at_s < last_s) throw reader.error("the time is before that of the entry above", "sort the entries by time");
    last_s = entry.at_s;
    entry.at_s -= first_s;
    if (entry.at_s > kMostSeconds) throw reader.error("the time is centuries after the first", kForms);
    entry.output_tokens = std::max(1, entry.output_tokens);
    if (!on_entry(entry)) return;
  }
  if (entries == 0) throw bad_input("trace " + name + " names its columns and holds no entry", kForms);
}

std::vector<TraceEntry> read_trace_file(const std::string& file, const std::string& sha256, size_t count) {
  std::ifstream in = opened(file);
  if (!sha256.empty() && sha256_file(file) != sha256)
    throw bad_input("trace " + file + " is not the file that it was: its SHA-256 is no longer " + sha256.substr(0, 16) + "...",
                    "put the old file back, or start anew with this one");
  std::vector<TraceEntry> entries;
  read_trace(in, file, [&](TraceEntry& entry) {
    entries.push_back(std::move(entry));
    return entries.size() < count;
  });
  return entries;
}

void set_trace(Traffic& traffic, const std::string& file, double speed) {
  std::ifstream in = opened(file);
  traffic.kind = Traffic::Kind::Trace;
  traffic.trace = file;
  traffic.trace_speed = speed;
  traffic.trace_sha256 = sha256_file(file);
  traffic.trace_entries = 0;
  traffic.longest_tokens = 0;
  Running prompts, outputs;
  double span_s = 0;
  read_trace(in, file, [&](TraceEntry& entry) {
    ++traffic.trace_entries;
    prompts.add(entry.prompt_tokens);
    outputs.add(entry.output_tokens);
    traffic.longest_tokens = std::max(traffic.longest_tokens, entry.prompt_tokens + entry.output_tokens);
    span_s = entry.at_s;
    return true;
  });
  traffic.prompt_tokens = prompts.spread();
  traffic.output_tokens = outputs.spread();
  traffic.rate_rps = span_s > 0 ? static_cast<double>(traffic.trace_entries - 1) / span_s * speed : 0;
}

}  // namespace hyperloom
