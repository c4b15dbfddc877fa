#include "session/exams.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/text.h"
#include "session/budget.h"
#include "session/legs.h"
#include "session/quality_check.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

constexpr double kMostShare = 0.15;            // of the budget, for three sittings: two of stock, one of a first keep
constexpr int kStockSittings = 2;
constexpr int kOpenLoopClients = 8, kMostClients = 64;
constexpr int kMostLongTokens = 16000;
constexpr int kMostExamAttempts = 2;           // of one sitting: a second one out of time would cost as much again
constexpr double kSlowest = 4, kLeastLimit_s = 60, kMostLimit_s = 600;
const char* const kStock = "exam:stock";

std::vector<const LegRecord*> sittings(const SessionState& s, const std::string& group) {
  std::vector<const LegRecord*> out;
  for (const LegRecord& leg : s.legs)
    if (leg.plan.group == group && leg.sat()) out.push_back(&leg);
  return out;
}

// Sittings of a group that gave nothing, our own interruptions not counted (L8).
int spoiled(const SessionState& s, const std::string& group) {
  return static_cast<int>(std::count_if(s.legs.begin(), s.legs.end(), [&](const LegRecord& leg) {
    return leg.plan.group == group && !leg.void_reason.empty() && !leg.interrupted();
  }));
}

const LegRecord* failed(const SessionState& s, const std::string& group) {
  for (const LegRecord& leg : s.legs)
    if (leg.plan.group == group && leg.failed()) return &leg;
  return nullptr;
}

std::string last_void(const SessionState& s, const std::string& group) {
  for (auto leg = s.legs.rbegin(); leg != s.legs.rend(); ++leg)
    if (leg->plan.group == group && !leg->void_reason.empty()) return leg->void_reason;
  return "";
}

// As long as the workload's own prompts, where those are longer.
int long_tokens(const Traffic& traffic) {
  const double own = traffic.prompt_tokens.mean * (1 + traffic.prompt_tokens.cv);
  return static_cast<int>(std::clamp<double>(own, kLongTokens, kMostLongTokens));
}

DoLeg sitting(const SessionState& s, const std::string& group, const std::string& arm, int pair, const Candidate& candidate) {
  DoLeg leg = plan_leg(s, "exam", group, arm, pair, candidate);
  leg.plan.seed = seed_from(s.session + "/exam");   // the same items for all
  leg.plan.measured = leg.plan.warmup = 0;
  leg.plan.attempt = spoiled(s, group);
  const Traffic& traffic = s.workload.traffic;
  leg.plan.clients = traffic.kind == Traffic::Kind::Closed ? std::clamp(traffic.clients, 1, kMostClients) : kOpenLoopClients;
  leg.plan.prompt_tokens = long_tokens(traffic);
  return leg;
}

Step decided(bool on, const std::string& notice) {
  Json body = ExamPlan{on, notice};
  body["what"] = "exam";
  return emit("probe", "exam", body);
}

Step without(const std::string& why) { return decided(false, "no exam (answers to our own questions, compared with stock's): " + why); }

bool says_anything(const ExamSheet& sheet) {
  return std::any_of(sheet.answers.begin(), sheet.answers.end(), [](const ExamAnswer& a) { return a.right; });
}

// A candidate all of whose changes claim stock's own answers.
bool exact(const Pack& pack, const Candidate& candidate) {
  return std::none_of(candidate.changes.begin(), candidate.changes.end(), [&](const Change& c) { return may_change_numerics(pack, c); });
}

}  // namespace

std::optional<Step> stock_exams(const SessionState& s) {
  if (s.exam) return {};
  const auto sat = sittings(s, kStock);
  const double cost_s = exam_cost_s(s);
  const int to_come = kStockSittings + 1 - static_cast<int>(sat.size());
  if (const LegRecord* leg = failed(s, kStock)) return without("stock failed in it: " + leg->done->failure->text());
  if (spoiled(s, kStock) >= kMostExamAttempts) return without("stock could not sit it: " + last_void(s, kStock));
  if (!sat.empty() && !says_anything(*sat.front()->done->exam)) return without("stock answers none of its questions");
  if (sat.size() >= kStockSittings) return decided(true, "");
  const double spent_s = cost_s * static_cast<double>(sat.size());
  if (spent_s + to_come * cost_s > kMostShare * s.workload.time_s)
    return without("its three sittings of about " + format_duration(cost_s) + " are more than " + std::to_string(static_cast<int>(100 * kMostShare)) +
                   " % of a budget of " + format_duration(s.workload.time_s) + "; kept changes rest on divergence and on their answers under load");
  return sitting(s, kStock, "a", static_cast<int>(sat.size()), s.enabled->stock);
}

std::optional<Step> exam_of(const Rules& rules, const SessionState& s, const Comparison& c) {
  if (!s.exam || !s.exam->on || c.exam) return {};
  const std::string group = "exam:" + c.intent.id;
  const auto judged = [&](const ExamReport& report) { return emit("exam.judged", c.intent.id, ExamDone{c.intent.id, report}); };
  ExamReport report;
  if (const LegRecord* leg = failed(s, group)) {
    report.failures.push_back("exam: it failed in it: " + leg->done->failure->text());
    return judged(report);
  }
  if (spoiled(s, group) >= kMostExamAttempts) {
    report.no_evidence = true;
    report.failures.push_back("exam: not sat: " + last_void(s, group));
    return judged(report);
  }
  const auto own = sittings(s, group);
  if (own.empty()) return sitting(s, group, "b", 0, c.intent.b);
  const auto stock = sittings(s, kStock);
  const ExamLimits limits{.exact = exact(rules.pack, c.intent.b), .waived = s.workload.quality.waived};
  return judged(judge_exam(*stock[0]->done->exam, *stock[1]->done->exam, *own.front()->done->exam, limits));
}

ExamOrder exam_order(const SessionState& s, const LegPlan& plan) {
  ExamOrder order{.items = exam_items(plan.seed, plan.prompt_tokens), .clients = plan.clients};
  const auto stock = sittings(s, kStock);
  order.limit_s = stock.empty() ? kMostShare * s.workload.time_s : kSlowest * stock.front()->done->exam->seconds;
  order.limit_s = std::clamp(order.limit_s, kLeastLimit_s, kMostLimit_s);
  if (plan.group != kStock && !stock.empty()) order.stock = &*stock.front()->done->exam;
  return order;
}

}  // namespace hyperloom
