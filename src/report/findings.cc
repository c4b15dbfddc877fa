#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/words.h"

namespace hyperloom {
namespace {

std::string stage_kind(const Proposal* proposal) {
  if (proposal && proposal->intent.source == "recipe") return "warm_replay";
  return proposal && proposal->intent.phase == "kernel" ? "kernel" : "framework";
}

StageRow compared_row(const SessionState& state, const Comparison& comparison) {
  StageRow row;
  row.comparison = &comparison;
  row.pairs = comparison.pairs;
  const std::vector<double> logs = comparison.log_ratios();
  if (!logs.empty()) row.effect = Effect{interval_of(logs), false};
  const Proposal* proposal = state.proposal(comparison.intent.proposal);
  row.id = comparison.intent.id;
  row.kind = stage_kind(proposal);
  row.parent = comparison.intent.a.id();
  if (proposal) {
    row.change = proposal->intent.change;
    row.name = proposal->intent.change.text();
  } else {
    row.name = comparison.intent.b.text();
  }
  return row;
}

std::vector<StageRow> kept_rows(const SessionState& state) {
  std::vector<StageRow> rows;
  for (const Stage& stage : state.stages) {
    StageRow row;
    if (const Comparison* comparison = state.comparison(stage.comparison)) {
      row = compared_row(state, *comparison);
      row.change = stage.change;
      row.unvalidated = notes_on(state, stage.change, comparison);
      row.decision = "kept";
    } else {
      row.decision = stage.kind == "enablement" ? "enabled" : "stock";
    }
    row.id = stage.id;
    row.name = stage.name;
    row.kind = stage.kind;
    row.parent = stage.parent;
    rows.push_back(row);
  }
  return rows;
}

std::vector<StageRow> reverted_rows(const SessionState& state) {
  std::vector<StageRow> rows;
  for (const Comparison& comparison : state.comparisons) {
    const bool kept =
        std::any_of(state.stages.begin(), state.stages.end(),
                    [&](const Stage& stage) { return stage.comparison == comparison.intent.id; });
    if (kept || (!comparison.decided && comparison.pairs.empty())) continue;
    StageRow row = compared_row(state, comparison);
    row.decision = comparison.decided ? "reverted" : "undecided";
    rows.push_back(row);
  }
  return rows;
}

StageRow claim_row(const SessionState& state, const Interval& claim, bool improved) {
  StageRow row;
  row.id = "final";
  row.name = "full stack against stock";
  row.kind = "final";
  row.decision = improved ? "claimed" : "unproven";
  row.parent = state.enabled ? state.enabled->stock.id() : Candidate{}.id();
  row.effect = Effect{claim, true};
  row.pairs = state.final_pairs;
  return row;
}

std::optional<double> side_value(const SessionState& state, std::string PairDone::* side) {
  std::vector<double> values;
  for (const PairDone& pair : state.final_pairs) {
    const LegRecord* leg = state.leg(pair.*side);
    if (leg && leg->done && leg->done->result) values.push_back(leg->done->result->value);
  }
  return geometric_mean(values);
}

std::optional<double> median_boot(const SessionState& state, const Candidate& candidate) {
  std::vector<double> values;
  for (const LegRecord& leg : state.legs) {
    const bool same = leg.plan.candidate.changes == candidate.changes;
    if (same && leg.good() && leg.done->result->boot_s > 0)
      values.push_back(leg.done->result->boot_s);
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

// A closed session recommends nothing that its fresh pairs do not prove.
std::string launched_text(const SessionState& state, const std::string& result, bool provisional) {
  if (result == "improved")
    return "the winning configuration: " + state.incumbent.text();
  if (provisional && !state.kept_items.empty())
    return "what was kept so far: " + state.incumbent.text();
  return provisional ? "stock" : "stock, since no better configuration is proven";
}

std::vector<std::string> session_notes(const SessionState& state, const Findings& findings) {
  std::vector<std::string> notes;
  for (const StageRow& row : findings.stages) {
    for (const std::string& note : row.unvalidated) notes.push_back(row.name + ": " + note);
  }
  if (!state.kept_items.empty() && findings.claim.n == 0) {
    notes.push_back(
        "the kept changes are proven one by one; the whole stack has no fresh pairs against stock");
  }
  if (findings.claim.n > 0 && findings.claim.n < 5) {
    notes.push_back("the claim rests on " +
                    count_text(static_cast<size_t>(findings.claim.n), "fresh pair") +
                    "; 5 are the rule");
  }
  if (const auto failed = full_stack_failures(state); !failed.empty()) {
    notes.push_back("the full stack failed in " + count_text(failed.size(), "leg") +
                    " of its own claim, last in " + failed.back()->plan.id + ": " +
                    failed.back()->done->failure->text());
  }
  const auto estimated = [](const LegRecord& leg) {
    return leg.good() && leg.done->result->load.usage_missing;
  };
  if (std::any_of(state.legs.begin(), state.legs.end(), estimated)) {
    notes.push_back(
        "the server did not report token counts: tokens are counted stream events, an estimate");
  }
  return notes;
}

}  // namespace

std::vector<double> StageRow::logs() const {
  std::vector<double> out;
  for (const PairDone& pair : pairs) out.push_back(pair.log_ratio);
  return out;
}

std::vector<std::string> notes_on(const SessionState& state, const Change& change,
                                  const Comparison* comparison) {
  std::vector<std::string> notes;
  if (change.kind == "precision") {
    std::string note =
        "a numeric change of the stock model: the same weights in another precision, so answers "
        "may differ";
    for (const MadeEvent& made : state.made) {
      const Change* own = made.candidate.find(change.knob);
      if (!made.ok || made.model_bytes == 0 || !own || own->value != change.value || !state.probe)
        continue;
      note += "; its file is " + format_bytes(static_cast<double>(made.model_bytes));
      if (state.probe->model.bytes > 0) {
        note += " where stock holds " + format_bytes(static_cast<double>(state.probe->model.bytes));
      }
      break;
    }
    notes.push_back(note);
  }
  if (!comparison) return notes;
  if (!comparison->quality) {
    notes.push_back("kept without a quality measurement");
  } else if (!state.workload.quality.waived.empty()) {
    notes.push_back("quality limits were waived: " + state.workload.quality.waived);
  }
  if (state.exam && !state.exam->on) notes.push_back(state.exam->notice);
  if (!comparison->critic) notes.push_back("kept without the critic's word");
  if (comparison->decided) {
    for (const std::string& guard : comparison->decided->guards) {
      if (guard.find("unproven") != std::string::npos) notes.push_back(guard);
    }
  }
  return notes;
}

Findings gather(const ReportInputs& inputs) {
  const SessionState& state = inputs.state;
  Findings findings;
  findings.result = result_of(state, inputs.provisional);
  findings.stop_reason = !inputs.stop_reason.empty() ? inputs.stop_reason
                         : state.closed              ? state.closed->stop_reason
                                                     : "unknown";
  const PhaseEntered* close = close_entry(state);
  findings.stopped_because = close && close->reason == findings.stop_reason
                                 ? because_text(*close)
                                 : replace_all(findings.stop_reason, "_", " ");
  findings.claim = final_claim(state);
  findings.launches = launched_text(state, findings.result, inputs.provisional);
  findings.stock_value = side_value(state, &PairDone::leg_a);
  findings.best_value = side_value(state, &PairDone::leg_b);
  if (!findings.stock_value && state.stock_value() > 0) findings.stock_value = state.stock_value();
  findings.stages = kept_rows(state);
  findings.reverted = reverted_rows(state);
  if (findings.claim.n > 0) findings.stages.push_back(claim_row(state, findings.claim, findings.result == "improved"));
  findings.limits = check_limits(state);
  findings.stock_boot_s = median_boot(state, state.enabled ? state.enabled->stock : Candidate{});
  findings.best_boot_s = median_boot(state, state.incumbent);
  for (const ProfileNote& profile : state.profiles) {
    (profile.of == "stock" ? findings.before : findings.after) = &profile;
  }
  findings.total_s = state.spent_s + state.unbudgeted_s;
  findings.other_s = std::max(0.0, findings.total_s - state.measuring_s - state.building_s);
  const fs::path journal = inputs.session_dir / "journal.hlj";
  if (!inputs.session_dir.empty() && fs::exists(journal))
    findings.journal_sha256 = sha256_file(journal);
  set_headline(inputs, findings);
  findings.unvalidated = session_notes(state, findings);
  const bool weights_changed =
      std::any_of(state.kept_items.begin(), state.kept_items.end(),
                  [](const Change& change) { return change.kind == "precision"; });
  if (weights_changed && findings.stock_boot_s && findings.best_boot_s) {
    findings.unvalidated.push_back(fmt::format(
        "boot until the first answer takes {:.1f} s with the full stack, {:.1f} s with stock",
        *findings.best_boot_s, *findings.stock_boot_s));
  }
  return findings;
}

}  // namespace hyperloom
