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

namespace hyperloom {

namespace {

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

DatasetPrompt from_json_line(const std::string& line, const std::string& where) {
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) throw bad_input(where + ": this line is no JSON", kMend);
  if (!json.is_object() || !json.contains("prompt") || !json["prompt"].is_string()) {
    throw bad_input(where + ": this line has no string \"prompt\"", kMend);
  }
  DatasetPrompt result{json["prompt"].get<std::string>(), 0};
  if (json.contains("output_tokens")) {
    const Json& tokens = json["output_tokens"];
    if (!tokens.is_number_integer() || tokens.get<int64_t>() < 1 || tokens.get<int64_t>() > 1000000) {
      // Only a number is shown: dump() recurses, and a hostile file nests as deep as it likes.
      throw bad_input(where + ": \"output_tokens\" is " + (tokens.is_number() ? tokens.dump() : "no number"),
                      "give a whole number from 1 to 1000000, or leave it out");
    }
    result.output_tokens = tokens.get<int>();
  }
  if (trim(result.prompt).empty()) throw bad_input(where + ": \"prompt\" is empty", "remove the line");
  return result;
}

void read_lines(std::istream& in, const std::string& file, bool json_lines, Reservoir& reservoir) {
  size_t offset = 0, number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string where =
        file + ":" + std::to_string(++number) + " (byte " + std::to_string(offset) + ")";
    offset += line.size() + 1;
    if (number == 1 && starts_with(line, "\xEF\xBB\xBF")) line.erase(0, 3);
    const std::string text = trim(line);
    if (text.empty()) continue;
    reservoir.offer(json_lines ? from_json_line(text, where) : DatasetPrompt{text, 0});
  }
}

// The first byte that is neither blank nor part of a byte order mark; then back to the start.
char first_character(std::istream& in) {
  char c = 0;
  while (in.get(c) && (std::isspace(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0xBB)) {
  }
  const char found = in ? c : '\0';
  in.clear();
  in.seekg(0);
  return found;
}

}  // namespace

std::vector<DatasetPrompt> sample_dataset(const std::string& file, uint64_t seed, int count) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) {
    throw bad_input("dataset " + file + " is a folder", "name the file itself");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw bad_input("dataset " + file + " cannot be read: " + std::strerror(errno), "check the path and who may read it");
  const char first = ends_with(file, ".txt") ? 'x' : first_character(in);
  Reservoir reservoir(seed, count);
  if (first == '[') {
    read_sharegpt(in, file, [&](DatasetPrompt prompt) { reservoir.offer(std::move(prompt)); });
  } else {
    read_lines(in, file, first == '{', reservoir);
  }
  if (in.bad()) throw bad_input("dataset " + file + ": read error", "check the disk");
  std::vector<DatasetPrompt> prompts = reservoir.take();
  if (prompts.empty()) throw bad_input("dataset " + file + " holds no prompt", kMend);
  return prompts;
}

}  // namespace hyperloom
