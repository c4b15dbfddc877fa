#include "load/sharegpt.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "load/metered_input.h"

namespace hyperloom {

namespace {

constexpr const char* kMend = "a ShareGPT file is an array of {\"conversations\": [{\"from\", \"value\"}, ...]}";

// The human turns of one conversation, each with the length of the answer that it got.
class Conversation {
 public:
  explicit Conversation(int most_turns) : most_(static_cast<size_t>(most_turns)) {}

  void add(const std::string& who, std::string said) {
    const bool human = who == "human" || who == "user";
    if (human && !trim(said).empty()) {
      if (turns_.size() < most_) turns_.push_back({std::move(said), 0});
    } else if (!human && !turns_.empty() && turns_.back().output_tokens == 0 && !said.empty()) {
      turns_.back().output_tokens = static_cast<int>(said.size() / 4) + 1;   // bytes a token in English text: about 4
    }
  }

  DatasetPrompt take() {
    DatasetPrompt prompt;
    if (!turns_.empty()) {
      prompt = {std::move(turns_[0].text), turns_[0].output_tokens, {}};
      prompt.later.assign(std::make_move_iterator(turns_.begin() + 1), std::make_move_iterator(turns_.end()));
    }
    turns_.clear();
    return prompt;
  }

 private:
  size_t most_;
  std::vector<DatasetTurn> turns_;
};

// Depth 1 is the array of conversations, 2 a conversation, 3 its array of turns, 4 a turn.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Reader(MeteredInput& input, int most_turns, const std::function<void(DatasetPrompt)>& on_prompt)
      : input_(input), talk_(most_turns), on_prompt_(on_prompt) {}

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
  size_t conversations() const { return conversations_; }

 private:
  void end_turn() {
    talk_.add(who_, std::move(said_));
    who_.clear();
    said_.clear();
  }

  void end_conversation() {
    ++conversations_;
    input_.mark();
    if (DatasetPrompt done = talk_.take(); !done.prompt.empty()) on_prompt_(std::move(done));
  }

  MeteredInput& input_;
  Conversation talk_;
  const std::function<void(DatasetPrompt)>& on_prompt_;
  int depth_ = 0;
  bool in_turns_ = false;
  std::string key_, who_, said_, error_;
  size_t error_at_ = 0, conversations_ = 0;
};

std::string text_of(const Json& turn, const char* name, const char* other) {
  for (const char* key : {name, other})
    if (const auto found = turn.find(key); found != turn.end() && found->is_string()) return found->get<std::string>();
  return "";
}

}  // namespace

ShareGptEnd read_sharegpt(std::istream& in, const std::string& file, int most_turns, const std::function<void(DatasetPrompt)>& on_prompt,
                          size_t longest) {
  MeteredInput input(in, longest);
  std::istream metered(&input);
  Reader reader(input, most_turns, on_prompt);
  Json::sax_parse(metered, &reader);
  const std::string bytes = std::to_string(reader.error_at());
  if (input.too_long())
    throw bad_input(file + ": the conversation at byte " + std::to_string(input.marked_at()) + " is longer than " +
                        format_bytes(static_cast<double>(longest)), kMend);
  // Whoever asked for more than there is stands at a cut.
  if (reader.failed() && !input.at_end()) throw bad_input(file + ": malformed at byte " + bytes + ": " + reader.error(), kMend);
  return {reader.conversations(), input.at(), reader.failed(), input.marked_at(), input.longest_seen()};
}

DatasetPrompt conversation_from(const Json& turns, int most_turns) {
  Conversation talk(most_turns);
  if (turns.is_array())
    for (const Json& turn : turns)
      if (turn.is_object()) talk.add(text_of(turn, "from", "role"), text_of(turn, "value", "content"));
  return talk.take();
}

}  // namespace hyperloom
