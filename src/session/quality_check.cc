#include "session/quality_check.h"

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "candidate/launch_plan.h"
#include "journal/journal.h"
#include "session/budget.h"
#include "session/legs.h"
#include "session/real_world.h"

namespace hyperloom {
namespace {

constexpr int kTokens = 8192, kMoreTexts = 4;
constexpr double kLeastToolTime_s = 60;

// Divergence of candidates from stock, by the pack's tool, within the time that is left.
class Divergence {
 public:
  Divergence(const Pack& pack, const SessionState& s, const fs::path& folder, const volatile bool* stop)
      : pack_(pack), s_(s), folder_(folder), stop_(stop), until_(clock_.mono_s() + std::max(kLeastToolTime_s, searchable_s(s))) {}

  // Whether the tool could tell the two apart: other tools, weights, settings or environment.
  bool differ(const Candidate& a, const Candidate& b) const {
    const KlOrder x = order(a, kTokens), y = order(b, kTokens);
    return x.tools != y.tools || x.model != y.model || x.flags != y.flags || x.env != y.env;
  }

  // A value close to its limit is measured again on four times the text, where time allows.
  KlResult of(const Candidate& candidate, const QualityLimits& limits, std::vector<std::string>& notes) {
    const KlResult first = run(candidate, kTokens);
    if (!first.ok || !too_close(first, limits)) return first;
    if (2 * kMoreTexts * first.seconds > until_ - clock_.mono_s()) {
      notes.push_back("within two standard errors of a limit, and no time to measure again on more text");
      return first;
    }
    const KlResult more = run(candidate, kMoreTexts * kTokens);
    notes.push_back(more.ok ? "within two standard errors of a limit: measured again on four times the text"
                            : "within two standard errors of a limit; four times the text could not be measured: " + more.error);
    return more.ok ? more : first;
  }

 private:
  KlOrder order(const Candidate& candidate, int tokens) const {
    KlOrder order;
    order.tools = build_folder(s_, build_of(s_, candidate));
    order.model = model_of(s_, candidate);
    order.flags = quality_flags(pack_, s_.workload, candidate);
    for (const Change& change : candidate.changes)
      if (change.kind == "env") order.env[change.knob] = change.value;
    order.tokens = tokens;
    order.base = folder_ / ("stock-" + std::to_string(tokens) + ".logits");
    order.limit_s = std::max(1.0, until_ - clock_.mono_s());
    return order;
  }
  KlResult run(const Candidate& candidate, int tokens) {
    const fs::path text = evaluation_text(folder_, tokens);
    KlOrder stock = order(s_.enabled->stock, tokens);
    stock.text = text;
    if (!fs::exists(stock.base)) {
      KlResult base = make_kl_base(pack_, stock, stop_);
      if (!base.ok) return base;
    }
    KlOrder own = order(candidate, tokens);
    own.text = text;
    return compare_kl(pack_, own, stop_);
  }

  const Pack& pack_;
  const SessionState& s_;
  const fs::path folder_;
  const volatile bool* stop_;
  const SystemClock clock_;
  const double until_;
};

// The latest report on exactly this candidate.
const QualityReport* report_on(const SessionState& s, const Candidate& candidate) {
  for (auto c = s.comparisons.rbegin(); c != s.comparisons.rend(); ++c)
    if (c->quality && c->intent.b == candidate) return &c->quality->report;
  return nullptr;
}

Agreement pooled(const Agreement& a, const Agreement& b) {
  if (a.compared == 0 || b.compared == 0) return a.compared == 0 ? b : a;
  const double n = a.compared + b.compared;
  const auto mean = [&](double x, double y) { return (x * a.compared + y * b.compared) / n; };
  const bool lengths_known = a.tokens_apart >= 0 && b.tokens_apart >= 0;
  return {mean(a.share, b.share), a.compared + b.compared, lengths_known ? mean(a.tokens_apart, b.tokens_apart) : -1};
}

std::string records(const SessionState& s, const fs::path& session_dir, const std::string& leg) {
  const LegRecord* record = s.leg(leg);
  return record && record->done ? load_blob(session_dir, record->done->records_blob) : "";
}

}  // namespace

bool may_change_numerics(const Pack& pack, const Change& change) {
  if (change.kind == "precision" || change.kind == "build" || change.kind == "patch") return true;
  if (std::find(pack.kl_flags.begin(), pack.kl_flags.end(), change.knob) != pack.kl_flags.end()) return true;
  const Knob* knob = pack.knob(change.knob);
  return knob && knob->numerics != "exact";
}

QualityReport check_quality(const Pack& pack, const SessionState& s, const Comparison& c, const fs::path& session_dir,
                            const volatile bool* stop) {
  SystemClock clock;
  double start = clock.mono_s();
  QualityReport report;
  const QualityLimits& limits = s.workload.quality;
  const fs::path folder = session_dir / "quality";
  make_folders(folder);
  Divergence divergence(pack, s, folder, stop);
  report.exact_change = !may_change_numerics(pack, c.intent.change);
  std::vector<std::string> build_failures;
  if (!pack.kl_compare || !divergence.differ(c.intent.b, s.enabled->stock)) {
    report.notes.push_back("nothing numeric was changed: weights, cache, attention and build are stock's");
  } else if (const QualityReport* before = report_on(s, c.intent.a);
             before && before->kl_done && !divergence.differ(c.intent.b, c.intent.a)) {
    report.kl = before->kl;
    report.kl_done = true;
    report.notes.push_back("weights, cache, attention and build are the incumbent's, whose divergence from stock stands");
  } else {
    if (c.intent.change.kind == "build") {
      // First on the stock's own weights and settings, where nothing else can hide the build's error.
      Candidate alone = s.enabled->stock.with(c.intent.change);
      QualityLimits strict = limits;
      strict.kl_mean_max = std::min(limits.kl_mean_max, kBuildKlMax);
      report.kl = divergence.of(alone, strict, report.notes);
      for (const std::string& failure : kl_failures(report.kl, strict)) build_failures.push_back("this build with stock's weights: " + failure);
    }
    if (c.intent.change.kind != "build" || divergence.differ(c.intent.b, s.enabled->stock.with(c.intent.change)))
      report.kl = divergence.of(c.intent.b, limits, report.notes);
    report.kl_done = true;
  }
  const PairDone& pair = c.pairs.front();
  for (const PairDone& p : c.pairs)
    report.agreement = pooled(report.agreement, greedy_agreement(records(s, session_dir, p.leg_a), records(s, session_dir, p.leg_b)));
  auto stock = s.good_legs("stock");
  if (stock.size() >= 2 && stock[0]->done->result->trace_sha256 == stock[1]->done->result->trace_sha256)
    report.stock_agreement = greedy_agreement(records(s, session_dir, stock[0]->plan.id), records(s, session_dir, stock[1]->plan.id));
  judge(report, limits, s.leg(pair.leg_a)->done->result->load, s.leg(pair.leg_b)->done->result->load);
  if (limits.waived.empty()) report.failures.insert(report.failures.begin(), build_failures.begin(), build_failures.end());
  report.cost_s = clock.mono_s() - start;
  return report;
}

void forget_base_logits(const fs::path& session_dir) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(session_dir / "quality", none))
    if (entry.path().extension() == ".logits") fs::remove(entry.path(), none);
}

}  // namespace hyperloom
