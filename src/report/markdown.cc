#include <fmt/format.h>

#include "base/text.h"
#include "report/exam_lines.h"
#include "report/findings.h"
#include "report/neighbour_lines.h"
#include "report/words.h"

namespace hyperloom {
namespace {

// One line in which nothing acts as Markdown, HTML or a table cell's end.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : join(split_words(printable(text)), " ")) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

// A fence longer than any run of backticks inside.
std::string fenced(const std::string& text, const std::string& language) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fence + language + "\n" + printable(text) + "\n" + fence + "\n\n";
}

std::string effect_text(const StageRow& stage) {
  if (!stage.effect) return "";
  const Interval& interval = stage.effect->interval;
  const std::string ratio = ratio_text(interval.mean) + "x";
  return stage.effect->fresh ? ratio + " " + plain(interval_text(interval))
                             : ratio + " (overstates)";
}

std::string evidence_text(const StageRow& stage) {
  if (!stage.comparison) return stage.kind == "final" ? "fresh pairs, own t" : "";
  std::string text = stage.comparison->intent.id;
  if (stage.comparison->decided) {
    const Decided& decided = *stage.comparison->decided;
    text += ": " + decided.verdict;
    if (decided.look.n > 0)
      text += fmt::format(", p {:.2g} against {:.2g}", decided.look.p, decided.look.bound);
  }
  if (stage.comparison->quality)
    text += stage.comparison->quality->report.held() ? ", quality held" : ", quality broken";
  if (stage.comparison->exam) text += stage.comparison->exam->report.held() ? ", exam held" : ", exam broken";
  if (stage.comparison->critic)
    text += stage.comparison->critic->sign ? ", critic signed"
                                           : ", critic vetoed: " + stage.comparison->critic->why;
  return plain(text);
}

std::string stage_table(const Findings& findings, const SessionState& state) {
  std::string out =
      "| stage | kind | speed-up | pairs | decision | evidence |\n|---|---|---|---|---|---|\n";
  const auto add = [&](const StageRow& stage, const std::string& decision) {
    out += "| " + plain(stage.name) + " | " + plain(stage.kind) + " | " + effect_text(stage) +
           " | " + (stage.pairs.empty() ? "" : std::to_string(stage.pairs.size())) + " | " +
           plain(decision) + " | " + evidence_text(stage) + " |\n";
  };
  for (const StageRow& stage : findings.stages) add(stage, stage.decision);
  for (const StageRow& stage : findings.reverted) {
    const Proposal* proposal = state.proposal(stage.comparison->intent.proposal);
    add(stage,
        stage.decision + (proposal && proposal->reverted ? ": " + proposal->reverted->code : ""));
  }
  return out + "\nOnly the final row is a claim: pairs that decided a keep overstate it.\n\n";
}

std::string bullets(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += "- " + plain(text) + "\n";
  return out.empty() ? "" : out + "\n";
}

std::string untried(const SessionState& state) {
  const Untried untried = untried_proposals(state);
  std::vector<std::string> lines;
  for (const Proposal* proposal : untried.judged) {
    const std::string change = proposal->intent.change.text();
    if (proposal->refused) {
      lines.push_back(change + ": refused by " + proposal->refused->rule + ", " + proposal->refused->value + ": " +
                      proposal->refused->mend);
    } else if (proposal->reverted) {
      lines.push_back(change + ": " + proposal->reverted->code + ", " + proposal->reverted->why);
    }
  }
  if (!untried.no_time.empty()) lines.push_back("no time was left for " + join(untried.no_time, ", "));
  return lines.empty() ? "" : "## Never compared\n\n" + bullets(lines);
}

std::string sweep_table(const SessionState& state) {
  if (state.sweep.empty()) return "";
  std::string out =
      "## Other operating points\n\n| clients | in | out | stock | best | ratio "
      "|\n|---|---|---|---|---|---|\n";
  for (const SweepPoint& point : state.sweep) {
    const auto stock = geometric_mean(point.stock), best = geometric_mean(point.best);
    const Objective& objective = state.workload.objective;
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", point.clients, point.prompt_tokens,
                       point.output_tokens, stock ? value_text(*stock, objective) : "",
                       best ? value_text(*best, objective) : "",
                       stock && best ? fmt::format("{:.2f}x", *best / *stock) : "");
  }
  return out + "\nSingle legs: an indication, not a proof.\n\n";
}

std::string headroom(const Findings& findings) {
  if (!findings.before && !findings.after) return "";
  std::string out =
      "## Headroom\n\n| | direction | reached | of | saturation |\n|---|---|---|---|---|\n";
  const auto add = [&](const char* when, const ProfileNote* profile) {
    if (!profile) return;
    for (const RoofPoint& point : profile->roofline.points) {
      out += std::string("| ") + when + " | " + name_of(point.direction) + " | " +
             figure_text(point.achieved) + " | " + figure_text(point.roof) + " " +
             plain(point.unit) + " | " + percent_text(point.saturation) + " |\n";
    }
  };
  add("before", findings.before);
  add("after", findings.after);
  return out + "\n";
}

}  // namespace

std::string render_markdown(const ReportInputs& inputs) {
  const SessionState& state = inputs.state;
  const Findings findings = gather(inputs);
  std::string out = "# " + plain(findings.headline) + "\n\n";
  if (inputs.provisional) {
    out += "> **Provisional.** This session has not closed (" +
           plain(replace_all(findings.stop_reason, "_", " ")) +
           "); what follows may still change.\n\n";
  }
  if (!findings.subline.empty()) out += plain(findings.subline) + "\n\n";
  if (state.probe) {
    out +=
        bullets({"model: " + model_text(state.probe->model), "engine: " + engine_text(*state.probe),
                 "machine: " + machine_text(state.probe->machine),
                 "traffic: " + traffic_text(state.workload.traffic),
                 "objective: " + objective_text(state.workload.objective)});
  }
  if (!inputs.best_launch.argv.empty())
    out += "## Launch\n\nThis is " + plain(findings.launches) + ".\n\n" +
           fenced(launch_text(inputs.best_launch, true), "sh");
  if (state.enabled && state.enabled->climbed) {
    out +=
        "## Getting it to run\n\nThe first build did not answer; this counts as no speed-up.\n\n" +
        bullets(state.enabled->rungs);
  }
  if (!findings.stages.empty()) out += "## Stages and decisions\n\n" + stage_table(findings, state);
  std::vector<std::string> parts;
  for (const Contribution& part : contributions(state)) {
    parts.push_back(part.knob + ": the full stack is " + ratio_text(part.effect.mean) +
                    "x what it is without it (" +
                    count_text(static_cast<size_t>(part.effect.n), "fresh pair") + ")");
  }
  if (!parts.empty()) out += "## What each change is worth\n\n" + bullets(parts);
  std::vector<std::string> limits;
  for (const LimitCheck& check : findings.limits) {
    const auto side = [](const std::optional<double>& ms, bool meets) {
      return ms ? figure_text(*ms) + " ms" + (meets ? "" : " (broken)")
                : std::string("not measured");
    };
    limits.push_back(limit_text(check.limit) + ": stock " +
                     side(check.stock_ms, check.stock_meets()) + ", best " +
                     side(check.best_ms, check.best_meets()));
  }
  if (!limits.empty()) out += "## Limits\n\n" + bullets(limits);
  out += headroom(findings) + sweep_table(state) + untried(state);
  if (!findings.unvalidated.empty())
    out += "## Not validated, and good to know\n\n" + bullets(findings.unvalidated);
  std::vector<std::string> conditions;
  if (state.pool.df() > 0) {
    conditions.push_back(fmt::format(
        "noise: one pair differs by {:.2f} % (1 sd) when nothing changed, {} degrees of freedom",
        100 * state.pool.pair_sd(), state.pool.df()));
  }
  if (const std::string exam = exam_summary(state); !exam.empty()) conditions.push_back(exam);
  for (const std::string& line : neighbour_lines(state)) conditions.push_back("neighbours: " + line);
  conditions.push_back("void legs: " + std::to_string(state.voids));
  constexpr size_t kMostVoids = 20;
  const std::vector<std::string> voids = void_lines(state);
  for (size_t i = 0; i < std::min(voids.size(), kMostVoids); ++i) conditions.push_back("void: " + voids[i]);
  if (voids.size() > kMostVoids)
    conditions.push_back("void: and " + std::to_string(voids.size() - kMostVoids) + " more, all in report.html");
  conditions.push_back("time: " + format_duration(findings.total_s) + ", of which measuring " +
                       format_duration(state.measuring_s) + ", building " +
                       format_duration(state.building_s));
  conditions.push_back("stopped because: " + findings.stopped_because);
  conditions.push_back("session: " + state.session);
  if (!findings.journal_sha256.empty())
    conditions.push_back("journal SHA-256: " + findings.journal_sha256);
  return out + "## Conditions\n\n" + bullets(conditions);
}

}  // namespace hyperloom
