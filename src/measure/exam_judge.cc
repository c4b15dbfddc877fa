#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "measure/exam.h"

namespace hyperloom {
namespace {

constexpr double kMargin = 0.1;               // a drop of 10 points must be excluded; less needs a thousand items
constexpr double kKill = 1000;                // 1 / chance to call a candidate worse that is not; for each of the two tests
constexpr int kLeastGood = 10;                // 2^-10: fewer losses prove nothing at 1 / kKill
constexpr double kAgreementSlack = 0.1;       // of exact changes, as under the load (quality.cc)

using Answers = std::function<bool(const ExamAnswer&)>;

struct Property { const char* name; Answers concerns, good; const char* mend; bool work = false; };   // work: that was not done; cannot be waived

bool any(const ExamAnswer&) { return true; }
bool chat(const ExamAnswer& a) { return a.kind == "chat"; }
bool is_long(const ExamAnswer& a) { return a.kind == "long_recall"; }
bool asked_alone(const ExamAnswer& a) { return a.alone.has_value(); }
bool right(const ExamAnswer& a) { return a.right; }

const std::vector<Property>& properties() {
  static const std::vector<Property> all = {
      {"right answers", any, right, "the model answers wrong where stock is right: look at what the change does to weights, cache or attention"},
      {"right answers to long prompts", is_long, right, "long contexts are broken: look at rope, cache and attention"},
      {"answers with text", any, [](const ExamAnswer& a) { return !a.failed && !a.text.empty(); }, "answers are empty or failed: look at the engine's log", true},
      {"answers that end by themselves", chat, [](const ExamAnswer& a) { return a.ended; }, "it does not stop where stock does: end-of-text is suppressed", true},
      {"answers without circles", chat, [](const ExamAnswer& a) { return !a.failed && !a.circles; }, "it repeats itself where stock does not: look at the answers"},
      {"answers within max_tokens", any, [](const ExamAnswer& a) { return !a.too_long; }, "it says more than it was asked for: max_tokens is ignored", true},
      {"the same alone as in company", asked_alone, [](const ExamAnswer& a) { return a.alone == a.text; },
       "it says other things under concurrency than alone, stock does not: look at batching, slots and caches"}};
  return all;
}

size_t comparable(const ExamSheet& a, const ExamSheet& b) { return std::min(a.answers.size(), b.answers.size()); }

// P(as many losses or more | lost + won items differ), were each as likely won as lost.
double mcnemar(int lost, int won) {
  const int n = lost + won;
  double p = 0, term = std::pow(0.5, n);      // of 0 losses
  for (int k = 0; k <= n; k++) {
    if (k >= lost) p += term;
    term *= static_cast<double>(n - k) / (k + 1);
  }
  return std::min(1.0, p);
}

std::vector<int> losses(const ExamSheet& stock, const ExamSheet& candidate, const Property& p, int* stock_good = nullptr) {
  std::vector<int> x;
  for (size_t i = 0; i < comparable(stock, candidate); i++) {
    const ExamAnswer &a = stock.answers[i], &b = candidate.answers[i];
    if (a.refused || b.refused || !p.concerns(a) || !p.concerns(b)) continue;
    x.push_back(int{p.good(a)} - int{p.good(b)});
    if (stock_good) *stock_good += p.good(a);
  }
  return x;
}

ExamCheck check(const ExamSheet& stock, const ExamSheet& candidate, const Property& p) {
  ExamCheck out{.name = p.name};
  const std::vector<int> x = losses(stock, candidate, p, &out.stock_good);
  out.items = static_cast<int>(x.size());
  out.lost = static_cast<int>(std::count(x.begin(), x.end(), 1));
  out.won = static_cast<int>(std::count(x.begin(), x.end(), -1));
  out.p = mcnemar(out.lost, out.won);
  const ShareLook seen = judge_shares(x, {.margin = kMargin, .kill = kKill});
  out.e_value = seen.e_value;
  if (seen.verdict == ShareVerdict::Worse || (out.p <= 1 / kKill && out.lost >= kLeastGood)) out.verdict = ExamVerdict::Worse;
  else if (out.stock_good < kLeastGood) out.verdict = ExamVerdict::Blind;
  return out;
}

// Of two whole sheets.
bool shown_no_worse(const ExamSheet& stock, const ExamSheet& candidate) {
  const std::vector<int> x = losses(stock, candidate, properties().front());
  return judge_shares(x, {.margin = kMargin, .looks = share_looks(static_cast<int>(x.size())), .kill = kKill}).verdict == ShareVerdict::Held;
}

double share(const ExamSheet& sheet, size_t n, const Answers& good) {
  const auto end = sheet.answers.begin() + static_cast<std::ptrdiff_t>(n);
  return n ? static_cast<double>(std::count_if(sheet.answers.begin(), end, good)) / static_cast<double>(n) : 0;
}

double same_text(const ExamSheet& a, const ExamSheet& b) {
  const size_t n = comparable(a, b);
  size_t same = 0;
  for (size_t i = 0; i < n; i++) same += a.answers[i].text == b.answers[i].text;
  return n ? static_cast<double>(same) / static_cast<double>(n) : 0;
}

// A failure of quality, unless it is waived.
void fail(const std::string& seen, const ExamLimits& limits, ExamReport& report) {
  if (limits.waived.empty()) report.failures.push_back(seen);
  else report.notes.push_back("waived (" + limits.waived + "): " + seen);
}

void judge_checks(const ExamSheet& stock, const ExamSheet& again, const ExamSheet& candidate, const ExamLimits& limits, ExamReport& report) {
  for (const Property& p : properties()) {
    ExamCheck seen = check(stock, candidate, p);
    const bool floor = check(stock, again, p).verdict == ExamVerdict::Worse;
    if (floor) {
      seen.verdict = ExamVerdict::Blind;
      report.notes.push_back(fmt::format("exam, {}: stock asked again loses this against itself, so it shows nothing here", p.name));
    } else if (seen.verdict == ExamVerdict::Worse) {
      const std::string what = fmt::format("exam, {}: {} lost and {} won against stock in {} items; {}", p.name, seen.lost, seen.won, seen.items, p.mend);
      if (p.work) report.failures.push_back(what);
      else fail(what, limits, report);
    } else if (seen.verdict == ExamVerdict::Blind && candidate.whole()) {
      report.notes.push_back(fmt::format("exam, {}: stock itself shows it in {} of {} items, too few for a loss to be seen", p.name, seen.stock_good, seen.items));
    }
    report.checks.push_back(std::move(seen));
  }
}

// Right answers must also be shown to be no worse, unless stock cannot even show that of itself.
void judge_pass(const ExamSheet& stock, const ExamSheet& again, const ExamSheet& candidate, const ExamLimits& limits, ExamReport& report) {
  if (report.checks.front().verdict == ExamVerdict::Worse) return;
  const bool whole = stock.whole() && candidate.whole() && stock.asked == candidate.asked;
  if (whole && shown_no_worse(stock, candidate)) return;
  const std::string seen = fmt::format("exam: not proven within {:.0f} points of stock ({} of {} items, {} lost, {} won)", 100 * kMargin, report.compared,
                                       stock.asked, report.checks.front().lost, report.checks.front().won);
  if (whole && !shown_no_worse(stock, again)) {
    report.notes.push_back(seen + "; nor is stock asked again: its own answers change too much");
    return;
  }
  report.checks.front().verdict = ExamVerdict::Unproven;
  if (!report.failures.empty()) return;
  report.no_evidence = !whole;
  fail(seen + (whole ? "; too many answers differ: measure its divergence" : "; it was cut short: give it more time"), limits, report);
}

void judge_words(const ExamSheet& stock, const ExamSheet& again, const ExamSheet& candidate, const ExamLimits& limits, ExamReport& report) {
  report.agreement = same_text(stock, candidate);
  report.stock_agreement = same_text(stock, again);
  const double se = report.compared ? std::sqrt(2 * 0.25 / report.compared) : 1;
  const std::string agreed = fmt::format("exam: {:.0f} % of {} answers are stock's own, word for word (stock asked again {:.0f} %)",
                                         100 * report.agreement, report.compared, 100 * report.stock_agreement);
  if (limits.exact && report.agreement < report.stock_agreement - kAgreementSlack - se)
    fail(agreed + "; a change that claims exact numerics changed the answers: check its numerics", limits, report);
  else
    report.notes.push_back(agreed);
}

}  // namespace

const char* name_of(ExamVerdict verdict) {
  switch (verdict) {
    case ExamVerdict::Held:
      return "held";
    case ExamVerdict::Worse:
      return "worse";
    case ExamVerdict::Unproven:
      return "unproven";
    case ExamVerdict::Blind:
      return "blind";
  }
  return "held";
}

bool proven_worse(const ExamSheet& stock, const ExamSheet& candidate) {
  return std::any_of(properties().begin(), properties().end(),
                     [&](const Property& p) { return check(stock, candidate, p).verdict == ExamVerdict::Worse; });
}

ExamReport judge_exam(const ExamSheet& stock, const ExamSheet& again, const ExamSheet& candidate, const ExamLimits& limits) {
  ExamReport report;
  const size_t n = comparable(stock, candidate);
  report.compared = static_cast<int>(n);
  report.asked = stock.asked;
  report.seconds = candidate.seconds;
  report.share_right = share(candidate, n, right);
  report.stock_right = share(stock, n, right);
  for (const std::string& setting : candidate.ignored)
    if (!stock.ignored.count(setting) && !again.ignored.count(setting))
      report.failures.push_back("exam, sampler settings: the server ignores " + setting + ", which stock obeys; nothing may strip a request's settings");
  judge_checks(stock, again, candidate, limits, report);
  const auto refused = [](const ExamSheet& s) { return std::count_if(s.answers.begin(), s.answers.end(), [](const ExamAnswer& a) { return a.refused; }); };
  if (refused(candidate) > refused(stock))
    report.notes.push_back(fmt::format("exam: {} long prompts do not fit this server's context, {} do not fit stock's; they are not compared", refused(candidate), refused(stock)));
  judge_pass(stock, again, candidate, limits, report);
  judge_words(stock, again, candidate, limits, report);
  return report;
}

}  // namespace hyperloom
