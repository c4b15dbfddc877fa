#include "measure/exam.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "../../tests/fakes/canned_server.h"
#include "base/error.h"
#include "base/json.h"
#include "measure/sampler_probes.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kItems = 96;

enum class Fault { None, Wrong, WrongWhenLong, Empty, NeverEnds, Stale, IgnoresSettings, AlwaysGreedy, Refuses };

// A completion server that knows the answers, and one way each to be broken.
class Model {
 public:
  Model(std::vector<ExamItem> items, Fault fault) : fault_(fault) {
    for (const ExamItem& item : items) known_[item.prompt] = item;
  }

  std::string answer(const std::string& request) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Json body = Json::parse(request.substr(request.find("\r\n\r\n") + 4));
    if (fault_ == Fault::Refuses) return "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const auto item = known_.find(body["prompt"].get<std::string>());
    const auto [text, tokens] = item == known_.end() ? probe(body) : known(item->second);
    const bool cut = fault_ == Fault::NeverEnds;
    const Json choice = {{"index", 0}, {"text", text}, {"finish_reason", cut ? "length" : "stop"}};
    return CannedServer::ok(Json{{"choices", Json::array({choice})}, {"usage", {{"prompt_tokens", 9}, {"completion_tokens", tokens}}}}.dump());
  }

 private:
  std::pair<std::string, int> known(const ExamItem& item) {
    served_++;
    if (fault_ == Fault::Wrong || (fault_ == Fault::WrongWhenLong && item.kind == "long_recall")) return {" no idea", 3};
    if (fault_ == Fault::Empty) return {"", 0};
    if (fault_ == Fault::Stale && served_ % 2) return {" " + known_.begin()->second.expected, 4};
    if (fault_ == Fault::IgnoresSettings) return {" " + item.expected, 60};
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
  std::mutex mutex_;
  int served_ = 0, drawn_ = 0;
};

ExamSheet sheet_of(const std::vector<ExamItem>& items, Fault fault, const ExamSheet* stock = nullptr) {
  Model model(items, fault);
  CannedServer server([&](int fd, const std::string& request) { CannedServer::send_all(fd, model.answer(request)); });
  ExamOrder order{.url = server.url(""), .items = items};
  order.stock = stock;
  return sit_exam(order);
}

ExamReport report_on(Fault fault, bool exact = false) {
  const auto items = exam_items(1, kItems);
  const ExamSheet stock = sheet_of(items, Fault::None);
  return judge_exam(items, stock, stock, sheet_of(items, fault, &stock), exact);
}

TEST(ExamItems, SameSeedSameBytesAndTheKindsTakeTurns) {
  const auto a = exam_items(7, 12), b = exam_items(7, 12), c = exam_items(8, 12);
  for (size_t i = 0; i < 12; i++) EXPECT_EQ(a[i].prompt + a[i].expected, b[i].prompt + b[i].expected);
  EXPECT_NE(a[0].prompt, c[0].prompt);
  EXPECT_EQ(a[0].kind, a[6].kind);
  EXPECT_EQ(a[5].kind, "long_recall");
  for (const ExamItem& item : exam_items(7, kItems)) {
    EXPECT_FALSE(item.expected.empty());
    EXPECT_GT(item.max_tokens, 0);
  }
}

TEST(ExamItems, AnAnswerBeginsWithWhatIsExpectedAndEndsThere) {
  const ExamItem item{"sum", "", "1", 6};
  EXPECT_TRUE(answers(item, " 1\n"));
  EXPECT_TRUE(answers(item, "1."));
  EXPECT_FALSE(answers(item, "14"));
  EXPECT_FALSE(answers(item, ""));
  EXPECT_TRUE(answers({"format", "", "[Cat]", 6}, "[cat]x"));
}

TEST(Exam, StockAgainstItselfHolds) {
  const ExamReport r = report_on(Fault::None, true);
  EXPECT_THAT(r.failures, IsEmpty());
  EXPECT_EQ(r.compared, kItems);
  EXPECT_EQ(r.share_right, 1);
}

TEST(Exam, SeesEachKindOfBroken) {
  EXPECT_THAT(report_on(Fault::Wrong).failures.front(), HasSubstr("right answers"));
  EXPECT_THAT(report_on(Fault::Stale).failures.front(), HasSubstr("right answers"));
  EXPECT_THAT(report_on(Fault::WrongWhenLong).failures.front(), HasSubstr("right answers"));
  EXPECT_THAT(report_on(Fault::NeverEnds).failures, ElementsAre(HasSubstr("end by themselves")));
  EXPECT_THAT(report_on(Fault::Empty).failures, testing::Contains(HasSubstr("answers with text")));
  EXPECT_THAT(report_on(Fault::IgnoresSettings).failures, testing::Contains(HasSubstr("within max_tokens")));
  EXPECT_FALSE(report_on(Fault::Refuses).held());
}

TEST(Exam, ABrokenServerDiesWithinAQuarterOfTheItems) {
  EXPECT_LE(report_on(Fault::Wrong).compared, kItems / 4);
  EXPECT_LE(report_on(Fault::NeverEnds).compared, kItems / 4);
}

TEST(Exam, AnExamCutShortProvesNothing) {
  const auto items = exam_items(1, kItems);
  ExamSheet stock = sheet_of(items, Fault::None), cut = stock;
  cut.answers.resize(20);
  EXPECT_THAT(judge_exam(items, stock, stock, cut, false).failures, ElementsAre(HasSubstr("not proven")));
  EXPECT_FALSE(judge_exam(items, stock, stock, {}, false).held());
  EXPECT_THROW(judge_exam({}, stock, stock, stock, false), Error);
}

TEST(Exam, OnlyAnExactChangeMustSayTheSameWords) {
  const auto items = exam_items(1, kItems);
  const ExamSheet stock = sheet_of(items, Fault::None);
  ExamSheet other = stock;
  for (ExamAnswer& a : other.answers) a.text += " and on";
  EXPECT_TRUE(judge_exam(items, stock, stock, other, false).held());
  EXPECT_THAT(judge_exam(items, stock, stock, other, true).failures, ElementsAre(HasSubstr("exact numerics")));
}

std::set<std::string> ignored_by(Fault fault) {
  Model model({}, fault);
  CannedServer server([&](int fd, const std::string& request) { CannedServer::send_all(fd, model.answer(request)); });
  return ignored_settings(server.url(""), 30);
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
    const auto ignored = ignored_settings(server.url(""), 30);
    EXPECT_EQ(ignored.count("max_tokens"), 0u) << body;
    EXPECT_EQ(ignored.count("seed"), 0u) << body;
  }
}

}  // namespace
}  // namespace hyperloom
