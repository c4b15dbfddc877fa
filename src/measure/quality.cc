#include "measure/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace hyperloom {
namespace {

constexpr double kFixedLengthSlack = 0.02;    // of mean output tokens where the length is fixed
constexpr double kFreeLengthSlack = 0.25;     // where the model ends its answers itself
constexpr double kShareSlack = 0.05;          // of finish reasons, repetition, empty answers
constexpr double kAgreementSlack = 0.1;       // below stock's agreement with itself
constexpr double kCollapse = 0.05, kSteadyStock = 0.5;
constexpr double kNearErrors = 2;             // standard errors

struct Judgement {
  std::vector<std::string> quality, work;     // failures; only quality can be waived
  std::vector<std::string> notes;
};

struct KlLimit {
  const char* name;
  double value, se, limit;
  bool at_most;
  bool breached() const { return at_most ? value > limit : value < limit; }
  bool near() const { return std::abs(value - limit) < kNearErrors * se; }
};

std::vector<KlLimit> kl_limits(const KlResult& kl, const QualityLimits& limits) {
  return {{"kl_mean_max", kl.mean_kl, kl.mean_kl_se, limits.kl_mean_max, true},
          {"ppl_ratio_max", kl.ppl_ratio, kl.ppl_ratio_se, limits.ppl_ratio_max, true},
          {"top1_min", kl.top1, kl.top1_se, limits.top1_min, false}};
}

void judge_kl(const KlResult& kl, const QualityLimits& limits, Judgement& out) {
  if (!kl.ok) {
    out.quality.push_back(fmt::format("divergence from stock not proven: {}; mend the quality tool or waive quality",
                                      kl.error.empty() ? "the tool gave no result" : kl.error));
    return;
  }
  for (const KlLimit& l : kl_limits(kl, limits)) {
    if (!std::isfinite(l.value) || l.breached())
      out.quality.push_back(fmt::format("quality.{}: {:.4g} ± {:.2g}, limit {:.4g}; take a milder precision or change the limit",
                                        l.name, l.value, l.se, l.limit));
    else if (l.near())
      out.notes.push_back(fmt::format("quality.{}: {:.4g} ± {:.2g} lies within two standard errors of the limit {:.4g}",
                                      l.name, l.value, l.se, l.limit));
  }
}

// Below stock's agreement with itself by the slack and one standard error: a share's variance is at most p(1-p), and
// other batches alone move the last digit of a logit.
double exact_limit(const Agreement& own, const Agreement& stock) {
  const double p = (own.share * own.compared + stock.share * stock.compared) / (own.compared + stock.compared);
  return stock.share - kAgreementSlack - std::sqrt(p * (1 - p) * (1.0 / own.compared + 1.0 / stock.compared));
}

void judge_agreement(const QualityReport& report, Judgement& out) {
  const Agreement &own = report.agreement, &stock = report.stock_agreement;
  if (own.compared == 0) {
    out.quality.push_back("answers not proven: no answer under the measured load could be compared with stock's; "
                          "measure both under one trace");
    return;
  }
  const bool stock_known = stock.compared > 0;
  const std::string seen = fmt::format(
      "greedy answers agree with stock's over {:.1f} % of their length ({} answers; stock with itself {})",
      100 * own.share, own.compared, stock_known ? fmt::format("{:.1f} %", 100 * stock.share) : "unknown");
  const bool numeric = !report.exact_change && (report.kl_done || !report.kl.error.empty());
  if (numeric && stock_known && own.share < kCollapse && stock.share > kSteadyStock)
    out.quality.push_back(seen + fmt::format(", limit {:.0f} %: broken under load; look at the answers", 100 * kCollapse));
  else if (!numeric && stock_known && own.share < exact_limit(own, stock))
    out.quality.push_back(seen + fmt::format(", limit {:.1f} %: a change that claims exact numerics changed the answers; "
                                             "check its numerics or measure its divergence",
                                             100 * exact_limit(own, stock)));
  else if (!numeric && !stock_known && own.share < kCollapse)
    out.quality.push_back(seen + fmt::format(", limit {:.0f} %: answers not proven; measure stock against itself under one trace",
                                             100 * kCollapse));
  else
    out.notes.push_back(seen);
}

int finished(const LoadSummary& s) {
  return std::accumulate(s.finish.begin(), s.finish.end(), 0, [](int sum, const auto& entry) { return sum + entry.second; });
}

double finish_share(const LoadSummary& s, const std::string& reason) {
  const auto found = s.finish.find(reason);
  return found == s.finish.end() ? 0 : static_cast<double>(found->second) / std::max(1, finished(s));
}

// `candidate` above `stock` by more than the slack and two binomial standard errors: a handful of answers
// decides nothing.
bool clearly_above(double stock, double candidate, int stock_n, int candidate_n) {
  const double pooled = (stock * stock_n + candidate * candidate_n) / (stock_n + candidate_n);
  const double se = std::sqrt(pooled * (1 - pooled) * (1.0 / stock_n + 1.0 / candidate_n));
  return candidate - stock > kShareSlack + kNearErrors * se;
}

void judge_share(const std::string& name, const std::string& mend, double stock, double candidate, int stock_n,
                 int candidate_n, std::vector<std::string>& failures, std::vector<std::string>& notes) {
  const std::string seen = fmt::format("{}: {:.0f} % of {} answers, stock {:.0f} % of {}, limit {:.0f} points more", name,
                                       100 * candidate, candidate_n, 100 * stock, stock_n, 100 * kShareSlack);
  if (clearly_above(stock, candidate, stock_n, candidate_n))
    failures.push_back(seen + "; " + mend);
  else if (candidate - stock > kShareSlack)
    notes.push_back(seen + ", but within the noise of so few");
}

// Of the same requests where they could be compared; else of two samples that a cut-off may have composed differently.
double tokens_apart(const Agreement& agreement, const LoadSummary& stock, const LoadSummary& candidate) {
  if (agreement.tokens_apart >= 0) return agreement.tokens_apart;
  const double more = std::max(stock.mean_output_tokens, candidate.mean_output_tokens);
  return more > 0 ? std::abs(stock.mean_output_tokens - candidate.mean_output_tokens) / more : 1;
}

void judge_work(const Agreement& agreement, const LoadSummary& stock, const LoadSummary& candidate, Judgement& out) {
  const int stock_n = finished(stock), candidate_n = finished(candidate);
  if (stock_n == 0 || candidate_n == 0) {
    out.work.push_back(fmt::format("work not proven: {} finished answers, stock {}; measure more requests", candidate_n, stock_n));
    return;
  }
  const bool fixed = finish_share(stock, "length") > 0.99;   // what ignore_eos makes of it
  const double slack = fixed ? kFixedLengthSlack : kFreeLengthSlack;
  const double apart = tokens_apart(agreement, stock, candidate);
  if (apart > slack)
    out.work.push_back(fmt::format("work differs: output tokens {:.1f} % apart (means {:.1f}, stock {:.1f}), limit {:.0f} %; "
                                   "tokens per second of other work are no gain: fix the output length or drop the change",
                                   100 * apart, candidate.mean_output_tokens, stock.mean_output_tokens, 100 * slack));
  std::set<std::string> reasons;
  for (const auto& [reason, count] : candidate.finish) reasons.insert(reason);
  for (const std::string& reason : reasons)
    judge_share("finish reason " + reason, "the answers end otherwise than stock's: look at them",
                finish_share(stock, reason), finish_share(candidate, reason), stock_n, candidate_n, out.work, out.notes);
  judge_share("repetition", "the answers go in circles: look at them", stock.repetition, candidate.repetition, stock_n,
              candidate_n, out.quality, out.notes);
  judge_share("empty answers", "look at the engine's log", stock.empty, candidate.empty, stock_n, candidate_n, out.quality,
              out.notes);
}

}  // namespace

void judge(QualityReport& report, const QualityLimits& limits, const LoadSummary& stock, const LoadSummary& candidate) {
  Judgement found;
  if (report.kl_done || !report.kl.error.empty()) judge_kl(report.kl, limits, found);   // else not needed
  judge_agreement(report, found);
  judge_work(report.agreement, stock, candidate, found);
  report.notes.insert(report.notes.end(), found.notes.begin(), found.notes.end());
  if (!limits.waived.empty()) {
    for (const std::string& failure : found.quality) report.notes.push_back("waived (" + limits.waived + "): " + failure);
    found.quality.clear();
  }
  report.failures = std::move(found.quality);
  report.failures.insert(report.failures.end(), found.work.begin(), found.work.end());
}

std::vector<std::string> kl_failures(const KlResult& kl, const QualityLimits& limits) {
  Judgement found;
  judge_kl(kl, limits, found);
  return found.quality;
}

bool too_close(const KlResult& kl, const QualityLimits& limits) {
  if (!kl.ok) return false;
  const auto all = kl_limits(kl, limits);
  return std::any_of(all.begin(), all.end(), [](const KlLimit& l) { return l.near(); });
}

}  // namespace hyperloom
