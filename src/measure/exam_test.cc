#include "measure/exam.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "../../tests/fakes/canned_server.h"
#include "base/json.h"
#include "measure/sampler_probes.h"

namespace hyperloom {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

enum class Fault { None, Wrong, WrongWhenLong, Empty, NeverEnds, Circles, Stale, IgnoresSettings, AlwaysGreedy, Refuses, ShortContext, MixesUpInCompany, NoChat };

const std::vector<ExamItem>& items() {
  static const std::vector<ExamItem> all = exam_items(1, 300);
  return all;
}

// A completion server that knows the answers, and one way each to be broken.
class Model {
 public:
  explicit Model(Fault fault) : fault_(fault) {
    for (const ExamItem& item : items()) known_[item.prompt] = item;
  }

  std::string answer(const std::string& request) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Json body = Json::parse(request.substr(request.find("\r\n\r\n") + 4));
    const bool chat = body.contains("messages");
    const std::string prompt = chat ? body["messages"][0]["content"] : body["prompt"];
    if (fault_ == Fault::Refuses || (fault_ == Fault::NoChat && chat)) return refusal("500 Internal Server Error");
    const auto item = known_.find(prompt);
    if (fault_ == Fault::ShortContext && item != known_.end() && item->second.is_long()) return refusal("400 Bad Request");
    const auto [text, tokens] = item == known_.end() ? probe(body) : known(item->second);
    const char* end = fault_ == Fault::NeverEnds ? "length" : "stop";
    Json choice = {{"index", 0}, {"finish_reason", end}};
    if (chat) choice["message"] = {{"role", "assistant"}, {"content", text}};
    else choice["text"] = text;
    return CannedServer::ok(Json{{"choices", Json::array({choice})}, {"usage", {{"prompt_tokens", 9}, {"completion_tokens", tokens}}}}.dump());
  }

 private:
  static std::string refusal(const std::string& status) { return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; }
  std::pair<std::string, int> known(const ExamItem& item) {
    served_++;
    const bool again = !asked_.insert(item.prompt).second;
    if (fault_ == Fault::Wrong || (fault_ == Fault::WrongWhenLong && item.is_long())) return {" no idea", 3};
    if (fault_ == Fault::Empty) return {"", 0};
    if (fault_ == Fault::Stale && served_ % 2) return {" " + known_.begin()->second.expected, 4};
    if (fault_ == Fault::IgnoresSettings) return {" " + item.expected, 60};
    if (fault_ == Fault::Circles && item.chat()) return {item.expected + " and on and on and on and on and on and on and on and on", 30};
    if (fault_ == Fault::MixesUpInCompany && !again) return {" " + item.expected + ", or so", 4};
    return {" " + item.expected, 4};
  }
  std::pair<std::string, int> probe(const Json& body) {
    const bool obeys = fault_ != Fault::IgnoresSettings;
    if (body.contains("stop")) return {obeys ? " 6, 7," : " 6, 7, 8, 9", 6};
    const bool greedy = fault_ == Fault::AlwaysGreedy || (obeys && body["temperature"].get<double>() == 0);
    const std::string text = greedy ? "a" : obeys ? "seed " + body["seed"].dump() : "draw " + std::to_string(++drawn_);
    return {text, obeys ? std::min(16, body["max_tokens"].get<int>()) : 200};
  }

  const Fault fault_;
  std::map<std::string, ExamItem> known_;
  std::set<std::string> asked_;
  std::mutex mutex_;
  int served_ = 0, drawn_ = 0;
};

ExamSheet sheet_of(Fault fault, const ExamSheet* stock = nullptr) {
  Model model(fault);
  CannedServer server([&](int fd, const std::string& request) { CannedServer::send_all(fd, model.answer(request)); });
  ExamOrder order{.url = server.url(""), .items = items()};
  order.stock = stock;
  return sit_exam(order);
}

const ExamSheet& stock_sheet() {
  static const ExamSheet sheet = sheet_of(Fault::None);
  return sheet;
}

ExamReport report_on(Fault fault, bool exact = false) {
  return judge_exam(stock_sheet(), stock_sheet(), sheet_of(fault, &stock_sheet()), {.exact = exact});
}

const ExamCheck& check_of(const ExamReport& report, const std::string& name) {
  return *std::find_if(report.checks.begin(), report.checks.end(), [&](const ExamCheck& c) { return c.name == name; });
}

TEST(ExamItems, SameSeedSameBytes) {
  const auto a = exam_items(7), b = exam_items(7), c = exam_items(8);
  ASSERT_EQ(a.size(), static_cast<size_t>(kShortItems + kChatItems + kLongItems));
  for (size_t i = 0; i < a.size(); i++) EXPECT_EQ(a[i].prompt + a[i].expected, b[i].prompt + b[i].expected);
  EXPECT_NE(a[0].prompt, c[0].prompt);
  EXPECT_EQ(a[0].kind, a[5].kind);
  for (const ExamItem& item : a) {
    EXPECT_FALSE(item.expected.empty());
    EXPECT_GT(item.max_tokens, 0);
  }
}

TEST(ExamItems, EachShortKindAndTheChatsAreAskedAloneToo) {
  std::map<std::string, int> alone;
  for (const ExamItem& item : exam_items(3)) alone[item.kind] += item.alone;
  for (const char* kind : {"copy", "reverse_lookup", "sum", "pattern", "format"}) EXPECT_GE(alone[kind], 2) << kind;
  EXPECT_EQ(alone["chat"], kChatItems / 2);
  EXPECT_EQ(alone["long_recall"], 0);
}

TEST(ExamItems, LongItemsShareOneTextThatHoldsTheirAnswers) {
  for (int tokens : {1, 300, 1500}) {
    const auto all = exam_items(5, tokens);
    const std::string& first = all[all.size() - kLongItems].prompt;
    const size_t text = first.find("\n\n");
    for (size_t i = all.size() - kLongItems; i < all.size(); i++) {
      ASSERT_TRUE(all[i].is_long());
      EXPECT_EQ(all[i].prompt.substr(0, text), first.substr(0, text));
      EXPECT_NE(all[i].prompt.find(" is " + all[i].expected + "."), std::string::npos);
    }
  }
  EXPECT_GT(exam_items(5, 3000).back().prompt.size(), 3 * exam_items(5, 1000).back().prompt.size() / 2);
}

TEST(ExamItems, AnAnswerBeginsWithWhatIsExpectedAndEndsThere) {
  const ExamItem item{"sum", "", "1", 6};
  EXPECT_TRUE(answers(item, " 1\n"));
  EXPECT_TRUE(answers(item, "1."));
  EXPECT_FALSE(answers(item, "14"));
  EXPECT_FALSE(answers(item, "is 1"));
  EXPECT_FALSE(answers(item, ""));
  EXPECT_TRUE(answers({"format", "", "[Cat]", 6}, "[cat]x"));
  EXPECT_TRUE(answers({"chat", "", "red", 6}, "It is not scarred, it is Red."));
  EXPECT_FALSE(answers({"chat", "", "red", 6}, "It is scarred."));
}

TEST(Exam, StockAgainstItselfHolds) {
  const ExamReport r = report_on(Fault::None, true);
  EXPECT_THAT(r.failures, IsEmpty());
  EXPECT_EQ(r.compared, static_cast<int>(items().size()));
  EXPECT_EQ(r.share_right, 1);
  for (const ExamCheck& c : r.checks) EXPECT_EQ(c.verdict, ExamVerdict::Held) << c.name;
}

TEST(Exam, SeesEachKindOfBrokenAndNamesTheCheck) {
  EXPECT_THAT(report_on(Fault::Wrong).failures.front(), HasSubstr("exam, right answers"));
  EXPECT_THAT(report_on(Fault::Stale).failures.front(), HasSubstr("exam, right answers"));
  EXPECT_THAT(report_on(Fault::WrongWhenLong).failures, Contains(HasSubstr("right answers to long prompts")));
  EXPECT_THAT(report_on(Fault::NeverEnds).failures, ElementsAre(HasSubstr("end by themselves")));
  EXPECT_THAT(report_on(Fault::Circles).failures, ElementsAre(HasSubstr("without circles")));
  EXPECT_THAT(report_on(Fault::Empty).failures, Contains(HasSubstr("answers with text")));
  EXPECT_THAT(report_on(Fault::IgnoresSettings).failures, Contains(HasSubstr("within max_tokens")));
  EXPECT_THAT(report_on(Fault::MixesUpInCompany).failures, ElementsAre(HasSubstr("alone as in company")));
  EXPECT_THAT(report_on(Fault::NoChat).failures, Contains(HasSubstr("end by themselves")));
  EXPECT_FALSE(report_on(Fault::Refuses).held());
}

TEST(Exam, ABrokenServerDiesBeforeTheEnd) {
  EXPECT_LE(report_on(Fault::Wrong).compared, kShortItems / 2);
  EXPECT_LE(report_on(Fault::NeverEnds).compared, kShortItems + kChatItems);
}

TEST(Exam, LongPromptsThatDoNotFitAreNotComparedAndSaid) {
  const ExamReport r = report_on(Fault::ShortContext);
  EXPECT_THAT(r.failures, IsEmpty());
  EXPECT_THAT(r.notes, Contains(HasSubstr("16 long prompts do not fit")));
  EXPECT_EQ(check_of(r, "right answers to long prompts").verdict, ExamVerdict::Blind);
}

TEST(Exam, WhatStockItselfDoesNotDoIsBlindNotHeld) {
  ExamSheet stock = stock_sheet();
  for (ExamAnswer& a : stock.answers) a.ended = false;
  const ExamReport r = judge_exam(stock, stock, stock_sheet());
  EXPECT_EQ(check_of(r, "answers that end by themselves").verdict, ExamVerdict::Blind);
  EXPECT_THAT(r.notes, Contains(HasSubstr("too few for a loss to be seen")));
}

TEST(Exam, ACheckThatStockLosesAgainstItselfShowsNothing) {
  ExamSheet again = stock_sheet(), candidate = stock_sheet();
  for (ExamSheet* sheet : {&again, &candidate})
    for (ExamAnswer& a : sheet->answers) if (a.alone) *a.alone += "!";
  const ExamReport r = judge_exam(stock_sheet(), again, candidate);
  EXPECT_THAT(r.failures, IsEmpty());
  EXPECT_THAT(r.notes, Contains(HasSubstr("stock asked again loses this against itself")));
}

TEST(Exam, AHandfulOfLossesIsNoProof) {
  ExamSheet nine = stock_sheet(), ten = stock_sheet();
  const size_t first_long = nine.answers.size() - kLongItems;
  for (size_t i = 0; i < 9; i++) nine.answers[first_long + i].right = false;
  for (size_t i = 0; i < 10; i++) ten.answers[first_long + i].right = false;
  EXPECT_EQ(check_of(judge_exam(stock_sheet(), stock_sheet(), nine), "right answers to long prompts").verdict, ExamVerdict::Held);
  EXPECT_EQ(check_of(judge_exam(stock_sheet(), stock_sheet(), ten), "right answers to long prompts").verdict, ExamVerdict::Worse);
}

TEST(Exam, AnExamCutShortIsNoEvidence) {
  ExamSheet cut = stock_sheet();
  cut.answers.resize(20);
  const ExamReport r = judge_exam(stock_sheet(), stock_sheet(), cut);
  EXPECT_THAT(r.failures, ElementsAre(HasSubstr("cut short")));
  EXPECT_TRUE(r.no_evidence);
  EXPECT_FALSE(judge_exam(stock_sheet(), stock_sheet(), {}).held());
  EXPECT_FALSE(judge_exam(cut, stock_sheet(), stock_sheet()).held());
}

TEST(Exam, TooManyAnswersThatDifferAreUnprovenUnlessStockDiffersAsMuch) {
  ExamSheet other = stock_sheet(), stock = stock_sheet();
  for (size_t i = 0; i < 36; i++) (i % 2 ? other : stock).answers[2 * i].right = false;   // as many won as lost
  const ExamReport r = judge_exam(stock, stock, other);
  EXPECT_THAT(r.failures, ElementsAre(HasSubstr("too many answers differ")));
  EXPECT_FALSE(r.no_evidence);
  EXPECT_TRUE(judge_exam(stock, other, other).held());
}

TEST(Exam, OnlyAnExactChangeMustSayTheSameWords) {
  ExamSheet other = stock_sheet();
  for (ExamAnswer& a : other.answers) {
    a.text += " and on";
    if (a.alone) *a.alone += " and on";
  }
  EXPECT_TRUE(judge_exam(stock_sheet(), stock_sheet(), other).held());
  EXPECT_THAT(judge_exam(stock_sheet(), stock_sheet(), other, {.exact = true}).failures, ElementsAre(HasSubstr("exact numerics")));
}

TEST(Exam, WaivedQualityIsANoteButWorkNotDoneIsAFailure) {
  ExamSheet wrong = stock_sheet(), endless = stock_sheet();
  for (ExamAnswer& a : wrong.answers) a.right = false;
  for (ExamAnswer& a : endless.answers) a.ended = false;
  const ExamReport report = judge_exam(stock_sheet(), stock_sheet(), wrong, {.waived = "a trial"});
  EXPECT_THAT(report.failures, IsEmpty());
  EXPECT_THAT(report.notes, Contains(HasSubstr("waived (a trial): exam, right answers")));
  EXPECT_FALSE(judge_exam(stock_sheet(), stock_sheet(), endless, {.waived = "a trial"}).held());
}

TEST(Exam, SheetsAndReportsSurviveTheJournal) {
  ExamSheet sheet = stock_sheet();
  sheet.ignored = {"seed"};
  sheet.answers[3].text = std::string(1999, 'x') + "\u00e9 and more";   // cut before the character, not inside
  const Json json = sheet;
  EXPECT_NO_THROW(json.dump());
  EXPECT_EQ(Json(json.get<ExamSheet>()), json);
  const ExamReport report = judge_exam(stock_sheet(), stock_sheet(), sheet, {.exact = true});
  const Json told = report;
  EXPECT_EQ(Json(told.get<ExamReport>()), told);
}

std::set<std::string> ignored_by(Fault fault) {
  Model model(fault);
  CannedServer server([&](int fd, const std::string& request) { CannedServer::send_all(fd, model.answer(request)); });
  return ignored_settings(server.url(""), "default", 30);
}

TEST(SamplerProbes, NameWhatIsIgnored) {
  EXPECT_THAT(ignored_by(Fault::None), IsEmpty());
  EXPECT_THAT(ignored_by(Fault::AlwaysGreedy), ElementsAre("temperature"));
  EXPECT_THAT(ignored_by(Fault::IgnoresSettings), ElementsAre("max_tokens", "seed", "stop", "temperature"));
  EXPECT_THAT(ignored_by(Fault::Refuses), IsEmpty());
}

TEST(SamplerProbes, HostileAnswersProveNothing) {
  for (const char* body : {"", "[]", "null", R"({"choices":[]})", R"({"choices":[3]})", R"({"choices":[{"text":5}],"usage":7})",
                           R"({"choices":[{"text":"x"}],"usage":{"completion_tokens":"many"}})", "{\"choices\""}) {
    CannedServer server([&](int fd, const std::string&) { CannedServer::send_all(fd, CannedServer::ok(body)); });
    const auto ignored = ignored_settings(server.url(""), "default", 30);
    EXPECT_EQ(ignored.count("max_tokens"), 0u) << body;
    EXPECT_EQ(ignored.count("seed"), 0u) << body;
  }
}

}  // namespace
}  // namespace hyperloom
