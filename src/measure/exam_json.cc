#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "measure/exam.h"

namespace hyperloom {
namespace {

constexpr size_t kMostText = 2000;

// Cut at a character's border; a journal holds UTF-8 only.
std::string cut(const std::string& text) {
  size_t end = std::min(text.size(), kMostText);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;
  return valid_utf8(std::string_view(text).substr(0, end));
}

// What is usual has no key.
void to_json_answer(Json& json, const ExamAnswer& a) {
  json = {{"kind", a.kind}, {"text", cut(a.text)}};
  const std::pair<const char*, bool> flags[] = {{"right", a.right}, {"ended", a.ended}, {"failed", a.failed},
                                                {"refused", a.refused}, {"too_long", a.too_long}, {"circles", a.circles}};
  for (const auto& [name, value] : flags)
    if (value) json[name] = true;
  if (a.alone) json["alone"] = cut(*a.alone);
}

ExamAnswer answer_from(const Json& json) {
  ExamAnswer a{.kind = json.at("kind").get<std::string>()};
  a.text = json.at("text").get<std::string>();
  const std::pair<const char*, bool*> flags[] = {{"right", &a.right}, {"ended", &a.ended}, {"failed", &a.failed},
                                                 {"refused", &a.refused}, {"too_long", &a.too_long}, {"circles", &a.circles}};
  for (const auto& [name, value] : flags) *value = json.value(name, false);
  if (json.contains("alone")) a.alone = json.at("alone").get<std::string>();
  return a;
}

ExamVerdict verdict_from(const std::string& name) {
  for (const ExamVerdict verdict : {ExamVerdict::Held, ExamVerdict::Worse, ExamVerdict::Unproven, ExamVerdict::Blind})
    if (name == name_of(verdict)) return verdict;
  return ExamVerdict::Blind;
}

}  // namespace

void to_json(Json& json, const ExamSheet& sheet) {
  Json answers = Json::array();
  for (const ExamAnswer& a : sheet.answers) to_json_answer(answers.emplace_back(), a);
  json = {{"answers", answers}, {"asked", sheet.asked}, {"ignored", sheet.ignored}, {"seconds", sheet.seconds}};
}

void from_json(const Json& json, ExamSheet& sheet) {
  sheet = ExamSheet{};
  for (const Json& a : json.at("answers")) sheet.answers.push_back(answer_from(a));
  sheet.asked = json.at("asked").get<int>();
  sheet.ignored = json.at("ignored").get<std::set<std::string>>();
  sheet.seconds = json.at("seconds").get<double>();
}

void to_json(Json& json, const ExamReport& r) {
  Json checks = Json::array();
  for (const ExamCheck& c : r.checks)
    checks.push_back({{"name", c.name}, {"items", c.items}, {"stock_good", c.stock_good}, {"lost", c.lost}, {"won", c.won},
                      {"p", c.p}, {"e_value", c.e_value}, {"verdict", name_of(c.verdict)}});
  json = {{"checks", checks}, {"compared", r.compared}, {"asked", r.asked}, {"share_right", r.share_right}, {"stock_right", r.stock_right},
          {"agreement", r.agreement}, {"stock_agreement", r.stock_agreement}, {"failures", r.failures}, {"notes", r.notes},
          {"no_evidence", r.no_evidence}, {"seconds", r.seconds}};
}

void from_json(const Json& json, ExamReport& r) {
  r = ExamReport{};
  for (const Json& c : json.at("checks"))
    r.checks.push_back({c.at("name").get<std::string>(), c.at("items").get<int>(), c.at("stock_good").get<int>(), c.at("lost").get<int>(),
                        c.at("won").get<int>(), c.at("p").get<double>(), c.at("e_value").get<double>(), verdict_from(c.at("verdict").get<std::string>())});
  r.compared = json.at("compared").get<int>();
  r.asked = json.at("asked").get<int>();
  r.share_right = json.at("share_right").get<double>();
  r.stock_right = json.at("stock_right").get<double>();
  r.agreement = json.at("agreement").get<double>();
  r.stock_agreement = json.at("stock_agreement").get<double>();
  r.failures = json.at("failures").get<std::vector<std::string>>();
  r.notes = json.at("notes").get<std::vector<std::string>>();
  r.no_evidence = json.at("no_evidence").get<bool>();
  r.seconds = json.at("seconds").get<double>();
}

}  // namespace hyperloom
