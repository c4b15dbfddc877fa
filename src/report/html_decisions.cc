#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "report/charts.h"
#include "report/exam_lines.h"
#include "report/findings.h"
#include "report/html_parts.h"
#include "report/words.h"

namespace hyperloom {
namespace {

std::string leg_value(const SessionState& state, const std::string& id) {
  const LegRecord* leg = state.leg(id);
  if (!leg || !leg->done || !leg->done->result) return "";
  return " <span class=\"num\">" +
         html_text(value_text(leg->done->result->value, state.workload.objective)) + "</span>";
}

std::string pairs_table(const SessionState& state, const StageRow& stage) {
  if (stage.pairs.empty()) return "";
  std::string rows;
  for (size_t i = 0; i < stage.pairs.size(); ++i) {
    const PairDone& pair = stage.pairs[i];
    rows += "<tr><td>" + std::to_string(i + 1) + "</td><td>" + html_text(pair.leg_a) +
            leg_value(state, pair.leg_a) + "</td><td>" + html_text(pair.leg_b) +
            leg_value(state, pair.leg_b) + "</td><td class=\"n\">" + ratio_text(pair.log_ratio) +
            "&times;</td></tr>";
  }
  const std::string arms = stage.kind == "final" ? "<th>A: stock</th><th>B: full stack</th>"
                                                 : "<th>A: incumbent</th><th>B: with the change</th>";
  return "<div class=\"scroll\"><table><tr><th>pair</th>" + arms +
         "<th class=\"n\">B / A</th></tr>" +
         rows + "</table></div>";
}

std::string look_rows(const Decided& decided) {
  const Look& look = decided.look;
  std::string out =
      html_row("Verdict", decided.verdict + (decided.why.empty() ? "" : ": " + decided.why));
  if (look.n == 0) return out;
  out += html_row(
      "Test",
      fmt::format(
          "n {}, raw mean {}x (overstates), clamped mean {}x, p {:.2g} against bound {:.2g}",
          look.n, ratio_text(look.raw), ratio_text(look.mean), look.p, look.bound));
  out += html_row("Noise used",
                  fmt::format("sd {:.2f} % with {:.0f} degrees of freedom", 100 * look.s, look.nu) +
                      (look.n >= 4 && look.s_own_over_pool > 2
                           ? "; noisier than the pool, so decided by its own t"
                           : ""));
  return out;
}

std::string quality_row(const std::string& name, const std::string& value, const std::string& limit,
                        bool held) {
  return "<tr><td>" + html_text(name) + "</td><td>" + html_text(value) + "</td><td>" +
         html_text(limit) + "</td><td>" + html_chip(held ? "held" : "broken") + "</td></tr>";
}

// The divergence's limit in words, and whether it was held. A build is held to a stricter one of
// its own, with stock's weights and settings, where nothing else can hide its error.
std::pair<std::string, bool> kl_limit(const SessionState& state, const Comparison& comparison) {
  const QualityReport& report = comparison.quality->report;
  const double limit = state.workload.quality.kl_mean_max;
  const double value = report.kl.mean_kl;
  const Change& change = comparison.intent.change;
  if (change.kind != "build") return {fmt::format("at most {:g}", limit), value <= limit};
  const double strict = std::min(limit, kBuildKlMax);
  const Candidate stock = state.enabled ? state.enabled->stock : Candidate{};
  if (comparison.intent.b == stock.with(change))
    return {fmt::format("at most {:g}", strict), value <= strict};
  // The value may be the whole candidate's: what the build alone did is in the judge's words.
  const bool failed = std::any_of(
      report.failures.begin(), report.failures.end(), [](const std::string& failure) {
        return failure.find("kl_mean_max") != std::string::npos;
      });
  return {fmt::format("at most {:g} for the build alone, {:g} with the other changes", strict,
                      limit),
          value <= limit && !failed};
}

std::string quality_table(const SessionState& state, const Comparison& comparison) {
  const QualityLimits& limits = state.workload.quality;
  const QualityReport& report = comparison.quality->report;
  std::string rows;
  if (report.kl_done && report.kl.ok) {
    const KlResult& kl = report.kl;
    const auto [kl_words, kl_held] = kl_limit(state, comparison);
    rows += quality_row("mean KL divergence from stock",
                        fmt::format("{:.4f} ± {:.4f}", kl.mean_kl, kl.mean_kl_se), kl_words,
                        kl_held);
    rows += quality_row(
        "perplexity ratio", fmt::format("{:.4f} ± {:.4f}", kl.ppl_ratio, kl.ppl_ratio_se),
        fmt::format("at most {:g}", limits.ppl_ratio_max), kl.ppl_ratio <= limits.ppl_ratio_max);
    rows += quality_row(
        "same top token", fmt::format("{:.1f} % ± {:.1f} %", 100 * kl.top1, 100 * kl.top1_se),
        fmt::format("at least {:.1f} %", 100 * limits.top1_min), kl.top1 >= limits.top1_min);
  }
  std::string out;
  if (!rows.empty()) {
    out =
        "<div "
        "class=\"scroll\"><table><tr><th>quality</th><th>measured</th><th>limit</th><th></th></"
        "tr>" +
        rows + "</table></div>";
    if (report.kl.tokens > 0)
      out += "<p class=\"hint\">over " + std::to_string(report.kl.tokens) + " tokens of text</p>";
  }
  std::vector<std::string> lines;
  if (report.kl_done && !report.kl.ok && !report.kl.error.empty())
    lines.push_back("divergence could not be measured: " + report.kl.error);
  if (report.agreement.compared > 0) {
    lines.push_back("greedy answers share " + percent_text(report.agreement.share) +
                    " of their length with the incumbent's (" +
                    count_text(static_cast<size_t>(report.agreement.compared), "answer") + ")" +
                    (report.stock_agreement.compared > 0
                         ? "; stock with itself under the same load: " +
                               percent_text(report.stock_agreement.share)
                         : ""));
  }
  for (const std::string& failure : report.failures) lines.push_back("broken: " + failure);
  for (const std::string& note : report.notes) lines.push_back(note);
  if (!limits.waived.empty()) lines.push_back("limits waived: " + limits.waived);
  return out + html_list(lines);
}

std::string critic_word(const CriticVerdict& critic) {
  const std::string word = critic.sign ? "signed" : "vetoed";
  return critic.code.empty() || critic.code == word ? word : word + " (" + critic.code + ")";
}

std::string decision_body(const SessionState& state, const StageRow& stage) {
  const Comparison* comparison = stage.comparison;
  std::string facts;
  std::string out;
  const Proposal* proposal = comparison ? state.proposal(comparison->intent.proposal) : nullptr;
  if (proposal) {
    facts +=
        html_row("Asked for by",
                 proposal->intent.role +
                     (proposal->intent.source.empty() ? "" : ", from " + proposal->intent.source));
    facts += html_row("Why", proposal->intent.why);
    if (proposal->intent.predicted_log != 0) {
      facts += html_row("Predicted", ratio_text(proposal->intent.predicted_log) +
                                         "x (scored, never used to decide)");
    }
    if (proposal->screened_log)
      facts += html_row("Screening", ratio_text(*proposal->screened_log) +
                                         "x on single legs (ranks, never keeps)");
    if (proposal->reverted)
      facts += html_row("Reverted", proposal->reverted->code + ": " + proposal->reverted->why);
  }
  if (comparison) {
    facts += html_row("Comparison", comparison->intent.id + ": " + comparison->intent.b.text() +
                                        " against " + comparison->intent.a.text());
    if (comparison->decided) facts += look_rows(*comparison->decided);
    if (comparison->critic) {
      facts += html_row("Critic", critic_word(*comparison->critic) + ": " +
                                      comparison->critic->why + "; its own mean " +
                                      ratio_text(comparison->critic->recomputed_log) + "x");
    }
  }
  if (stage.effect) out += pair_strip(stage);
  if (!facts.empty()) out += "<dl>" + facts + "</dl>";
  out += pairs_table(state, stage);
  if (comparison && comparison->decided && !comparison->decided->guards.empty()) {
    out += "<h3>Latency guards</h3>" + html_list(comparison->decided->guards);
  }
  if (comparison && comparison->quality)
    out += "<h3>Quality</h3>" + quality_table(state, *comparison);
  if (comparison && comparison->exam) out += html_list(exam_lines(comparison->exam->report));
  return out + html_list(stage.unvalidated);
}

std::string decision(const SessionState& state, const StageRow& stage) {
  std::string effect;
  if (stage.effect) {
    effect =
        ratio_text(stage.effect->interval.mean) + "&times; &middot; " +
        (stage.effect->fresh ? html_text(interval_text(stage.effect->interval)) + ", " +
                                   count_text(stage.pairs.size(), "fresh pair")
                             : count_text(stage.pairs.size(), "deciding pair") + " (overstates)");
  }
  return "<details><summary>" + html_chip(stage.decision) + "<span class=\"name\">" +
         html_text(stage.name) + "</span><span class=\"num\">" + effect + "</span></summary><div>" +
         decision_body(state, stage) + "</div></details>";
}

}  // namespace

std::string html_decisions(const Findings& findings, const SessionState& state) {
  std::string out;
  for (const StageRow& stage : findings.stages) {
    if (!stage.pairs.empty()) out += decision(state, stage);
  }
  for (const StageRow& stage : findings.reverted) out += decision(state, stage);
  return out;
}

std::string html_untried(const SessionState& state) {
  const Untried untried = untried_proposals(state);
  std::string rows;
  const auto row = [&](const std::string& word, const std::string& subject, const std::string& why) {
    rows += "<tr><td>" + html_chip(word) + "</td><td class=\"wrap\"><code>" + html_text(subject) +
            "</code></td><td class=\"wrap\">" + html_text(why) + "</td></tr>";
  };
  for (const Proposal* proposal : untried.judged) {
    std::string word = "not tried", why = proposal->intent.why;
    if (proposal->refused) {
      word = "refused";
      why = "rule " + proposal->refused->rule + ", value " + proposal->refused->value + ": " + proposal->refused->mend +
            "; asked because: " + proposal->intent.why;
    } else if (proposal->reverted) {
      word = "reverted";
      why = proposal->reverted->code + ": " + proposal->reverted->why;
    } else if (proposal->screened_log) {
      word = "screened";
    }
    if (proposal->screened_log) why += " (screened at " + ratio_text(*proposal->screened_log) + "x on single legs)";
    row(word, proposal->intent.change.text(), why);
  }
  if (!untried.no_time.empty()) row("not tried", join(untried.no_time, ", "), "no time was left for them: a larger budget tries them");
  return rows.empty() ? ""
                      : "<div class=\"scroll\"><table><tr><th></th><th>change</th><th>why</th></tr>" + rows + "</table></div>";
}

}  // namespace hyperloom
