#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "measure/quality.h"

namespace hyperloom {
namespace {

struct Answer { std::string text; double tokens; };

// Everything the model generated, by request; only of requests that completed.
std::map<int, Answer> answers(const std::string& jsonl) {
  std::map<int, Answer> result;
  int number = 0;
  for (const std::string& line : split(jsonl, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const Json record = Json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("id"))
      throw internal_error("request records, line " + std::to_string(number) + ": not a record",
                           "the blob is damaged: repeat the leg");
    if (record.value("state", "") == "completed")
      result[record.at("id").get<int>()] = {record.value("reasoning", "") + record.value("text", ""),
                                            record.value("output_tokens", 0.0)};
  }
  return result;
}

}  // namespace

Agreement greedy_agreement(const std::string& records_a_jsonl, const std::string& records_b_jsonl) {
  const auto a = answers(records_a_jsonl), b = answers(records_b_jsonl);
  Agreement agreement;
  double shares = 0, tokens_a = 0, tokens_b = 0;
  for (const auto& [id, left] : a) {
    const auto found = b.find(id);
    if (found == b.end()) continue;
    const Answer& right = found->second;
    const size_t longer = std::max(left.text.size(), right.text.size());
    if (longer == 0) continue;   // two empty answers prove nothing
    const auto differ = std::mismatch(left.text.begin(), left.text.end(), right.text.begin(), right.text.end());
    shares += static_cast<double>(differ.first - left.text.begin()) / static_cast<double>(longer);
    tokens_a += left.tokens;
    tokens_b += right.tokens;
    ++agreement.compared;
  }
  if (agreement.compared > 0) agreement.share = shares / agreement.compared;
  if (tokens_a > 0 && tokens_b > 0) agreement.tokens_apart = std::abs(tokens_a - tokens_b) / std::max(tokens_a, tokens_b);
  return agreement;
}

}  // namespace hyperloom
