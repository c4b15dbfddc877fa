#include "session/quality_check.h"

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "candidate/launch_plan.h"
#include "journal/journal.h"
#include "session/legs.h"
#include "session/real_world.h"

namespace hyperloom {
namespace {

constexpr int kTokens = 8192;
// Same weights through another build: stock against itself with other batch sizes shows about 0.003.
constexpr double kSameWeightsKl = 0.006;

bool numeric(const Pack& pack, const Change& change) {
  if (change.kind == "precision" || change.kind == "build" || change.kind == "patch") return true;
  return std::find(pack.kl_flags.begin(), pack.kl_flags.end(), change.knob) != pack.kl_flags.end();
}

KlOrder order_for(const Pack& pack, const SessionState& s, const Candidate& candidate, const fs::path& folder, int tokens) {
  KlOrder order;
  order.tools = build_folder(s, build_of(s, candidate));
  order.model = model_of(s, candidate);
  order.flags = quality_flags(pack, s.workload, candidate);
  for (const Change& change : candidate.changes)
    if (change.kind == "env") order.env[change.knob] = change.value;
  order.tokens = tokens;
  order.text = evaluation_text(folder, tokens);
  order.base = folder / ("stock-" + std::to_string(tokens) + ".logits");
  return order;
}

KlResult kl_against_stock(const Pack& pack, const SessionState& s, const Candidate& candidate, const fs::path& folder, int tokens,
                          const volatile bool* stop) {
  KlOrder stock = order_for(pack, s, s.enabled->stock, folder, tokens);
  if (!fs::exists(stock.base)) {
    KlResult base = make_kl_base(pack, stock, stop);
    if (!base.ok) return base;
  }
  return compare_kl(pack, order_for(pack, s, candidate, folder, tokens), stop);
}

std::string records(const SessionState& s, const fs::path& session_dir, const std::string& leg) {
  const LegRecord* record = s.leg(leg);
  return record && record->done ? load_blob(session_dir, record->done->records_blob) : "";
}

}  // namespace

QualityReport check_quality(const Pack& pack, const SessionState& s, const Comparison& c, const fs::path& session_dir,
                            const volatile bool* stop) {
  SystemClock clock;
  double start = clock.mono_s();
  QualityReport report;
  QualityLimits limits = s.workload.quality;
  Candidate candidate = c.intent.b;
  bool touched = std::any_of(candidate.changes.begin(), candidate.changes.end(), [&](const Change& ch) { return numeric(pack, ch); });
  if (c.intent.change.kind == "build") {
    // The build is judged on the stock's own weights, where nothing else can hide its error.
    for (const Change& change : c.intent.b.changes)
      if (change.kind == "precision") candidate = candidate.without(change.knob);
    limits.kl_mean_max = std::min(limits.kl_mean_max, kSameWeightsKl);
    report.notes.push_back("judged with the stock's weights through this build");
  }
  if (touched && pack.kl_compare) {
    fs::path folder = session_dir / "quality";
    make_folders(folder);
    report.kl = kl_against_stock(pack, s, candidate, folder, kTokens, stop);
    report.kl_done = true;
    if (report.kl.ok && too_close(report.kl, limits)) {
      report.notes.push_back("within two standard errors of a limit: measured again on four times the text");
      report.kl = kl_against_stock(pack, s, candidate, folder, 4 * kTokens, stop);
    }
  } else {
    report.notes.push_back("nothing numeric was changed: weights, cache, attention and build are stock's");
  }
  const PairDone& pair = c.pairs.front();
  report.agreement = greedy_agreement(records(s, session_dir, pair.leg_a), records(s, session_dir, pair.leg_b));
  auto stock = s.good_legs("stock");
  if (stock.size() >= 2 && stock[0]->done->result->trace_sha256 == stock[1]->done->result->trace_sha256)
    report.stock_agreement = greedy_agreement(records(s, session_dir, stock[0]->plan.id), records(s, session_dir, stock[1]->plan.id));
  judge(report, limits, s.leg(pair.leg_a)->done->result->load, s.leg(pair.leg_b)->done->result->load);
  report.cost_s = clock.mono_s() - start;
  return report;
}

void forget_base_logits(const fs::path& session_dir) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(session_dir / "quality", none))
    if (entry.path().extension() == ".logits") fs::remove(entry.path(), none);
}

}  // namespace hyperloom
