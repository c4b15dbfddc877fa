#include "load/dataset.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "load/random.h"
#include "load/sharegpt.h"
#include "workload/line_reader.h"

namespace hyperloom {

namespace {

constexpr int kFirstBytes = 4096;
constexpr const char* kMend =
    "use one prompt a line, JSON lines {\"prompt\": \"...\"}, or a ShareGPT JSON array";

// Reservoir sampling: every prompt of the file is equally likely to be among the `count` kept.
class Reservoir {
 public:
  Reservoir(uint64_t seed, int count) : random_(seed), count_(static_cast<size_t>(count)) {}

  void offer(DatasetPrompt prompt) {
    ++seen_;
    if (kept_.size() < count_) {
      kept_.push_back(std::move(prompt));
    } else if (const size_t place = random_.below(seen_); place < count_) {
      kept_[place] = std::move(prompt);
    }
  }

  std::vector<DatasetPrompt> take() {
    random_.shuffle(kept_);
    return std::move(kept_);
  }

 private:
  Random random_;
  size_t count_, seen_ = 0;
  std::vector<DatasetPrompt> kept_;
};

int output_tokens_of(const Json& json, const LineReader& at) {
  if (!json.contains("output_tokens")) return 0;
  const Json& tokens = json["output_tokens"];
  if (!tokens.is_number_integer() || tokens.get<int64_t>() < 1 || tokens.get<int64_t>() > 1000000) {
    // Only a number is shown: dump() recurses, and a hostile file nests as deep as it likes.
    throw at.error("\"output_tokens\" is " + (tokens.is_number() ? tokens.dump() : "no number"),
                   "give a whole number from 1 to 1000000, or leave it out");
  }
  return tokens.get<int>();
}

// A line without a human turn gives an empty prompt.
DatasetPrompt from_json_line(std::string_view line, int most_turns, const LineReader& at) {
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded())
    throw at.error(at.cut() ? "this last line is cut short" : "this line is no JSON", at.cut() ? "fetch the file again, or remove the line" : kMend);
  if (json.is_object() && !json.contains("prompt"))
    for (const char* key : {"conversations", "messages"})
      if (json.contains(key)) return conversation_from(json[key], most_turns);
  if (!json.is_object() || !json.contains("prompt") || !json["prompt"].is_string())
    throw at.error("this line has no string \"prompt\"", kMend);
  DatasetPrompt result{json["prompt"].get<std::string>(), output_tokens_of(json, at)};
  if (trim(result.prompt).empty()) throw at.error("\"prompt\" is empty", "remove the line");
  return result;
}

void read_lines(std::istream& in, const std::string& file, bool json_lines, int most_turns, Reservoir& reservoir) {
  LineReader reader(in, file);
  for (std::string_view line; reader.next(line);) {
    DatasetPrompt prompt = json_lines ? from_json_line(line, most_turns, reader) : DatasetPrompt{std::string(line)};
    if (!prompt.prompt.empty()) reservoir.offer(std::move(prompt));
  }
}

// The first byte that is neither blank nor part of a byte order mark, if it is near; then back to the start.
char first_character(std::istream& in) {
  char c = 0;
  bool found = false;
  for (int i = 0; i < kFirstBytes && !found && in.get(c); ++i) found = !std::isspace(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 0xBB;
  in.clear();
  in.seekg(0);
  return found ? c : '\0';
}

std::string cut_notice(const std::string& file, const ShareGptEnd& end) {
  return "dataset " + file + " ends too early, at byte " + std::to_string(end.bytes) + ": only its " + std::to_string(end.conversations) +
         " whole conversations, up to byte " + std::to_string(end.whole_until) + ", are used; fetch the file again";
}

}  // namespace

DatasetSample sample_dataset(std::istream& in, const std::string& file, uint64_t seed, int count, int most_turns) {
  const char first = ends_with(file, ".txt") ? 'x' : first_character(in);
  Reservoir reservoir(seed, count);
  DatasetSample sample;
  if (first == '[') {
    const ShareGptEnd end = read_sharegpt(in, file, most_turns, [&](DatasetPrompt prompt) { reservoir.offer(std::move(prompt)); });
    if (end.cut) sample.notice = cut_notice(file, end);
  } else {
    read_lines(in, file, first == '{', most_turns, reservoir);
  }
  if (in.bad()) throw bad_input("dataset " + file + ": read error", "check the disk");
  sample.prompts = reservoir.take();
  if (sample.prompts.empty())
    throw bad_input(sample.notice.empty() ? "dataset " + file + " holds no prompt" : sample.notice + "; it holds no prompt", kMend);
  return sample;
}

DatasetSample sample_dataset(const std::string& file, uint64_t seed, int count, int most_turns) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) throw bad_input("dataset " + file + " is a folder", "name the file itself");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw bad_input("dataset " + file + " cannot be read: " + std::strerror(errno), "check the path and who may read it");
  return sample_dataset(in, file, seed, count, most_turns);
}

}  // namespace hyperloom
