#include "load/event_template.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/text.h"

namespace hyperloom {
namespace {

constexpr int kLessons = 3, kMatchesThatPay = 8;
constexpr const char* kStandIn = "7f3a-stand-in-9c1e";

bool absent(const Json& object, const char* key) { return !object.contains(key) || object[key].is_null(); }

bool text_at(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_string() && !object[key].get_ref<const std::string&>().empty();
}

// A JSON string that stands for itself: no escapes, nothing that a parser would refuse.
bool plain(std::string_view text) {
  bool ascii = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '"' || c == '\\') return false;
    ascii &= byte < 0x80;
  }
  return ascii || valid_utf8(text) == text;
}

// Where the one generated text of `answer` stands, or "": no usage, no end, no error, no tool call, one choice.
std::string only_text(const Json& answer) {
  if (!answer.is_object() || !absent(answer, "usage") || !absent(answer, "error")) return "";
  if (answer.contains("object") && answer["object"] == "error") return "";
  if (!answer.contains("choices") || !answer["choices"].is_array() || answer["choices"].size() != 1) return "";
  const Json& choice = answer["choices"][0];
  if (!choice.is_object() || !absent(choice, "finish_reason") || !absent(choice, "message")) return "";
  if (absent(choice, "delta")) return text_at(choice, "text") ? "/choices/0/text" : "";
  const Json& delta = choice["delta"];
  if (!delta.is_object() || text_at(choice, "text") || text_at(delta, "refusal")) return "";
  if (!absent(delta, "tool_calls") || !absent(delta, "function_call")) return "";
  std::string where;
  for (const char* key : {"content", "reasoning_content", "reasoning"}) {
    if (!text_at(delta, key)) continue;
    if (!where.empty()) return "";
    where = std::string("/choices/0/delta/") + key;
  }
  return where;
}

}  // namespace

// The place of the text among the bytes is proven by a stand-in: what parses to the same but for the text is the frame.
bool EventTemplate::frame(const std::string& data, const Json& answer, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  const std::string text = answer.at(place).get<std::string>(), quoted = '"' + text + '"';
  if (!plain(text)) return false;
  for (size_t at = data.find(quoted); at != std::string::npos; at = data.find(quoted, at + 1)) {
    before_ = data.substr(0, at + 1);
    after_ = data.substr(at + 1 + text.size());
    Json probe = Json::parse(before_ + kStandIn + after_, nullptr, false);
    if (probe.is_discarded() || !probe.contains(place) || probe.at(place) != kStandIn) continue;
    probe[place] = text;
    if (probe == answer) return true;
  }
  return false;
}

void EventTemplate::learn(const std::string& data, const Json& answer) {
  if (lessons_left_ == 0) return;
  const std::string pointer = only_text(answer);
  if (pointer.empty()) return;
  --lessons_left_;
  matches_ = 0;
  if (!frame(data, answer, pointer)) before_.clear();
  reasoning_ = pointer.find("reasoning") != std::string::npos;
}

std::optional<EventTemplate::Text> EventTemplate::match(std::string_view data) {
  if (before_.empty() || data.size() <= before_.size() + after_.size()) return std::nullopt;
  if (!starts_with(data, before_) || !ends_with(data, after_)) return std::nullopt;
  const std::string_view text = data.substr(before_.size(), data.size() - before_.size() - after_.size());
  if (!plain(text)) return std::nullopt;
  if (++matches_ == kMatchesThatPay) lessons_left_ = kLessons;
  return Text{text, reasoning_};
}

}  // namespace hyperloom
