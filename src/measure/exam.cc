#include "measure/exam.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "load/generator.h"
#include "measure/sampler_probes.h"
#include "os/event_loop.h"

namespace hyperloom {
namespace {

constexpr double kMargin = 0.1;               // a drop of 10 points must be excluded; less needs a thousand items
constexpr double kBlind = 0.25;               // a stock that knows less cannot show a drop
constexpr double kAgreementSlack = 0.1;       // of exact changes, as under the load (quality.cc)

using Good = std::function<bool(const ExamAnswer&)>;

bool ended(const ExamAnswer& a) { return a.ended; }
bool says_something(const ExamAnswer& a) { return !a.failed && !a.text.empty(); }
bool within_length(const ExamAnswer& a) { return !a.too_long; }
bool right(const ExamAnswer& a) { return a.right; }

size_t comparable(const ExamSheet& a, const ExamSheet& b) { return std::min(a.answers.size(), b.answers.size()); }

std::vector<int> losses(const ExamSheet& stock, const ExamSheet& candidate, const Good& good) {
  std::vector<int> x;
  for (size_t i = 0; i < comparable(stock, candidate); i++) x.push_back(int{good(stock.answers[i])} - int{good(candidate.answers[i])});
  return x;
}

// What a candidate may not lose against stock; `looks` empty = only the kill.
struct Property { const char* name; Good good; const char* mend; };
const std::vector<Property>& properties() {
  static const std::vector<Property> all = {
      {"right answers", right, "the model answers wrong where stock is right: look at what the change does to weights, cache or attention"},
      {"answers with text", says_something, "answers are empty or failed: look at the engine's log"},
      {"answers that end by themselves", ended, "it does not stop where stock does: end-of-text is suppressed"},
      {"answers within max_tokens", within_length, "it says more than it was asked for: max_tokens is ignored"}};
  return all;
}

bool proven_worse(const ExamSheet& stock, const ExamSheet& candidate) {
  return std::any_of(properties().begin(), properties().end(), [&](const Property& p) {
    return judge_shares(losses(stock, candidate, p.good), {.margin = kMargin}).verdict == ShareVerdict::Worse;
  });
}

ExamAnswer answer_of(const ExamItem& item, const RequestRecord& record) {
  ExamAnswer answer;
  answer.failed = record.state != RequestState::Completed;
  answer.text = record.reasoning + record.text;
  answer.ended = record.finish_reason == "stop";
  answer.too_long = record.tokens() > item.max_tokens;
  answer.right = !answer.failed && answers(item, record.text);
  return answer;
}

LoadSpec spec_of(const ExamOrder& order, double left_s) {
  LoadSpec spec;
  spec.url = order.url;
  spec.traffic.api = Traffic::Api::Completions;
  spec.traffic.clients = order.clients;
  spec.traffic.ignore_eos = false;
  spec.request_timeout_s = left_s;
  spec.time_limit_s = left_s;
  spec.stream = false;
  return spec;
}

double share(const ExamSheet& sheet, size_t n, const Good& good) {
  const auto end = sheet.answers.begin() + static_cast<std::ptrdiff_t>(n);
  return n ? static_cast<double>(std::count_if(sheet.answers.begin(), end, good)) / static_cast<double>(n) : 0;
}

double same_text(const ExamSheet& a, const ExamSheet& b) {
  const size_t n = comparable(a, b);
  size_t same = 0;
  for (size_t i = 0; i < n; i++) same += a.answers[i].text == b.answers[i].text;
  return n ? static_cast<double>(same) / static_cast<double>(n) : 0;
}

void judge_properties(const ExamSheet& stock, const ExamSheet& candidate, ExamReport& report) {
  for (const Property& p : properties()) {
    const ShareLook seen = judge_shares(losses(stock, candidate, p.good), {.margin = kMargin});
    if (seen.verdict != ShareVerdict::Worse) continue;
    report.failures.push_back(fmt::format("exam, {}: {} lost and {} won against stock in {} items; {}", p.name, seen.lost, seen.won, seen.n, p.mend));
  }
}

void judge_long(const std::vector<ExamItem>& items, const ExamSheet& stock, const ExamSheet& candidate, ExamReport& report) {
  const std::vector<int> all = losses(stock, candidate, right);
  std::vector<int> x;
  for (size_t i = 0; i < all.size(); i++)
    if (items[i].kind == "long_recall") x.push_back(all[i]);
  report.right_long = judge_shares(x, {.margin = kMargin});
  if (report.right_long.verdict == ShareVerdict::Worse)
    report.failures.push_back(fmt::format("exam, long prompts: {} lost and {} won against stock in {} items; long contexts are broken: look at rope, cache and attention",
                                          report.right_long.lost, report.right_long.won, report.right_long.n));
}

}  // namespace

ExamSheet sit_exam(const ExamOrder& order) {
  const double begun_s = EventLoop::now_s();
  const auto left_s = [&] { return order.limit_s - (EventLoop::now_s() - begun_s); };
  ExamSheet sheet;
  sheet.ignored = ignored_settings(order.url, std::max(1.0, left_s()));
  size_t asked = 0;
  for (int until : share_looks(static_cast<int>(order.items.size()))) {
    if (left_s() <= 0 || (order.stop_flag && *order.stop_flag)) break;
    RequestTrace trace;
    for (; asked < static_cast<size_t>(until); asked++) trace.requests.push_back({order.items[asked].prompt, order.items[asked].max_tokens, 0});
    const LoadResult load = run_load(spec_of(order, left_s()), trace, {}, order.stop_flag);
    if (load.records.size() < trace.requests.size()) break;
    if (std::any_of(load.records.begin(), load.records.end(), [](const RequestRecord& r) { return r.state == RequestState::CutOff; })) break;
    for (const RequestRecord& record : load.records) sheet.answers.push_back(answer_of(order.items[sheet.answers.size()], record));
    if (order.stock && proven_worse(*order.stock, sheet)) break;
  }
  sheet.seconds = EventLoop::now_s() - begun_s;
  return sheet;
}

ExamReport judge_exam(const std::vector<ExamItem>& items, const ExamSheet& stock, const ExamSheet& again, const ExamSheet& candidate, bool exact) {
  if (items.empty() || stock.answers.size() > items.size() || candidate.answers.size() > items.size())
    throw internal_error("an exam's sheet does not belong to its items");
  ExamReport report;
  const size_t n = comparable(stock, candidate);
  report.compared = static_cast<int>(n);
  report.share_right = share(candidate, n, right);
  report.stock_right = share(stock, n, right);
  report.agreement = same_text(stock, candidate);
  report.stock_agreement = same_text(stock, again);
  for (const std::string& setting : candidate.ignored)
    if (!stock.ignored.count(setting))
      report.failures.push_back("exam: the server ignores " + setting + ", which stock obeys; nothing may strip a request's sampler settings");
  judge_properties(stock, candidate, report);
  judge_long(items, stock, candidate, report);
  report.right = judge_shares(losses(stock, candidate, right), {.margin = kMargin, .looks = share_looks(static_cast<int>(items.size()))});
  const bool proven = report.right.verdict == ShareVerdict::Held && n == items.size();
  if (report.failures.empty() && !proven)
    report.failures.push_back(fmt::format("exam: not proven within {:.0f} points of stock ({} of {} items, {} lost, {} won); give it more time",
                                          100 * kMargin, n, items.size(), report.right.lost, report.right.won));
  const double se = n ? std::sqrt(2 * 0.25 / static_cast<double>(n)) : 1;
  const std::string agreed = fmt::format("exam: {:.0f} % of {} answers are stock's own, word for word (stock asked again {:.0f} %)",
                                         100 * report.agreement, n, 100 * report.stock_agreement);
  if (exact && report.agreement < report.stock_agreement - kAgreementSlack - se)
    report.failures.push_back(agreed + "; a change that claims exact numerics changed the answers: check its numerics");
  else
    report.notes.push_back(agreed);
  if (report.stock_right < kBlind)
    report.notes.push_back(fmt::format("exam: stock itself is right in {:.0f} % only: a loss of knowledge cannot show here", 100 * report.stock_right));
  return report;
}

}  // namespace hyperloom
