#include "load/sharegpt.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace hyperloom {

namespace {

constexpr const char* kMend = "a ShareGPT file is an array of {\"conversations\": [{\"from\", \"value\"}, ...]}";

// Depth 1 is the array of conversations, 2 a conversation, 3 its array of turns, 4 a turn.
class Reader : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(const std::function<void(DatasetPrompt)>& on_prompt) : on_prompt_(on_prompt) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool string(string_t& value) override {
    if (depth_ != 4 || !in_turns_) return true;
    if (key_ == "from" || key_ == "role") who_ = value;
    if (key_ == "value" || key_ == "content") said_ = std::move(value);
    return true;
  }

  bool key(string_t& name) override {
    key_ = name;
    return true;
  }

  bool start_object(size_t) override {
    ++depth_;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ == 2) in_turns_ = key_ == "conversations" || key_ == "messages";
    ++depth_;
    return true;
  }
  bool end_array() override {
    if (--depth_ == 2) in_turns_ = false;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 3 && in_turns_) end_turn();
    if (depth_ == 1) end_conversation();
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception& error) override {
    error_at_ = position;
    error_ = error.what();
    return false;
  }

  bool failed() const { return !error_.empty(); }
  size_t error_at() const { return error_at_; }
  const std::string& error() const { return error_; }

 private:
  void end_turn() {
    const bool human = who_ == "human" || who_ == "user";
    if (human && prompt_.prompt.empty()) {
      prompt_.prompt = std::move(said_);
    } else if (!human && !prompt_.prompt.empty() && prompt_.output_tokens == 0 && !said_.empty()) {
      prompt_.output_tokens = static_cast<int>(said_.size() / 4) + 1;   // bytes a token in English text: about 4
    }
    who_.clear();
    said_.clear();
  }

  void end_conversation() {
    DatasetPrompt done;
    std::swap(done, prompt_);
    if (!trim(done.prompt).empty()) on_prompt_(std::move(done));
  }

  const std::function<void(DatasetPrompt)>& on_prompt_;
  int depth_ = 0;
  bool in_turns_ = false;
  std::string key_, who_, said_, error_;
  size_t error_at_ = 0;
  DatasetPrompt prompt_;
};

}  // namespace

void read_sharegpt(std::istream& in, const std::string& file,
                   const std::function<void(DatasetPrompt)>& on_prompt) {
  in.seekg(0, std::ios::end);
  const auto size = static_cast<size_t>(in.tellg());
  in.seekg(0);
  Reader reader(on_prompt);
  Json::sax_parse(in, &reader);
  in.clear();
  if (!reader.failed()) return;
  // The parser notices a cut one byte past the end, or inside a character that the cut went through.
  constexpr size_t kLongestCharacter = 4;
  if (reader.error_at() + kLongestCharacter > size) return;
  throw bad_input(file + ": malformed at byte " + std::to_string(reader.error_at()) + ": " + reader.error(),
                  kMend);
}

}  // namespace hyperloom
