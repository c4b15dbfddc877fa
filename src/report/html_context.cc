// The parts of the page that say under which conditions its numbers hold.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "report/charts.h"
#include "report/html_parts.h"
#include "report/neighbour_lines.h"
#include "report/svg.h"
#include "report/words.h"

namespace hyperloom {
namespace {

template <class Wanted>
std::string void_legs(const SessionState& state, const std::string& title, const std::string& hint,
                      Wanted wanted) {
  std::string rows;
  for (const LegRecord& leg : state.legs) {
    if (leg.void_reason.empty() || !wanted(leg)) continue;
    rows += "<tr><td>" + html_text(leg.plan.id) + "</td><td>" + html_text(leg.plan.purpose) +
            "</td><td class=\"wrap\">" + html_text(leg.plan.candidate.text()) +
            "</td><td class=\"wrap\">" + html_text(leg.void_reason) + "</td></tr>";
  }
  return rows.empty() ? ""
                      : "<h3>" + title + "</h3><p class=\"hint\">" + hint +
                            "</p><div class=\"scroll\"><table><tr><th>leg</th><th>purpose</th>"
                            "<th>of</th><th>why void</th></tr>" +
                            rows + "</table></div>";
}

}  // namespace

std::string html_section(const std::string& title, const std::string& hint,
                         const std::string& body) {
  if (body.empty()) return "";
  return "<section><h2>" + html_text(title) + "</h2>" +
         (hint.empty() ? "" : "<p class=\"hint\">" + html_text(hint) + "</p>") + body +
         "</section>\n";
}

std::string html_row(const std::string& term, const std::string& text) {
  return text.empty() ? "" : "<dt>" + html_text(term) + "</dt><dd>" + html_text(text) + "</dd>";
}

std::string html_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += "<li>" + html_text(text) + "</li>";
  return out.empty() ? "" : "<ul class=\"plain\">" + out + "</ul>";
}

std::string html_chip(const std::string& word) {
  std::string css_class;  // the first word, letters only, whatever the word holds
  for (const char c : word) {
    if (c < 'a' || c > 'z') break;
    css_class += c;
  }
  return "<span class=\"chip " + css_class + "\">" + html_text(word) + "</span>";
}

std::string html_enablement(const SessionState& state) {
  const bool climbed = state.enabled && state.enabled->climbed;
  if (state.builds.empty() && !climbed) return "";
  std::string out;
  if (climbed)
    out +=
        "<p>The first build did not answer. The least invasive step that made the real model "
        "answer correctly was taken; "
        "it counts as no speed-up.</p>";
  if (!state.enabled) {
    out += stopped_by_user(state)
               ? "<p>Stopped before a build had served a correct completion.</p>"
               : "<p>No build served a correct completion.</p>";
  }
  if (state.enabled) out += html_list(state.enabled->rungs);
  std::string rows;
  for (const BuildEvent& build : state.builds) {
    const std::string word = build.ok ? (build.error.empty() ? "built" : "did not run") : build.out_of_time ? "no time" : "failed";
    rows += "<tr><td>" + html_text(build.recipe) + "</td><td>" + html_chip(word) +
            "</td><td class=\"n\">" +
            html_text(build.from_cache ? "cached" : format_duration(build.cost_s)) +
            "</td><td class=\"wrap\">" + html_text(cut(build.error, 300)) + "</td></tr>";
  }
  if (!rows.empty()) {
    out +=
        "<div class=\"scroll\"><table><tr><th>build</th><th></th><th "
        "class=\"n\">time</th><th>first error</th></tr>" +
        rows + "</table></div>";
  }
  return out;
}

std::string html_limits(const Findings& findings) {
  std::string rows;
  for (const LimitCheck& check : findings.limits) {
    const auto cell = [](const std::optional<double>& ms, bool meets) {
      return ms ? html_text(figure_text(*ms)) + " ms " + html_chip(meets ? "held" : "broken")
                : std::string("not measured");
    };
    rows += "<tr><td>" + html_text(limit_text(check.limit)) + "</td><td>" +
            cell(check.stock_ms, check.stock_meets()) + "</td><td>" +
            cell(check.best_ms, check.best_meets()) + "</td></tr>";
  }
  return rows.empty()
             ? ""
             : "<div class=\"scroll\"><table><tr><th>limit</th><th>stock</th><th>best</th></tr>" +
                   rows + "</table></div>";
}

std::string html_contributions(const SessionState& state) {
  std::string rows;
  for (const Contribution& part : contributions(state)) {
    rows += "<tr><td><code>" + html_text(part.knob) + "</code></td><td class=\"n\">" +
            ratio_text(part.effect.mean) + "&times;</td><td>" +
            html_text(interval_text(part.effect)) + " " +
            count_text(static_cast<size_t>(part.effect.n), "fresh pair") + "</td></tr>";
  }
  return rows.empty() ? ""
                      : "<table><tr><th>change</th><th class=\"n\">full stack / without "
                        "it</th><th></th></tr>" +
                            rows + "</table>";
}

std::string html_noise(const SessionState& state) {
  std::string out;
  if (state.pool.df() > 0) {
    const double sd = state.pool.pair_sd();
    std::string pairs;
    for (const double percent : {1.0, 2.0, 3.0, 5.0}) {
      const int count = pairs_needed(std::log1p(percent / 100), sd);
      pairs += (pairs.empty() ? "" : "; ") + fmt::format("{:g} %: ", percent) +
               (count > 0 ? std::to_string(count) : "more than 10");
    }
    out += "<dl>" +
           html_row(
               "One pair",
               fmt::format("differs by {:.2f} % (1 sd) when nothing changed; {} degrees of freedom",
                           100 * sd, state.pool.df())) +
           html_row("Pairs to prove", pairs) +
           html_row("False keeps",
                    fmt::format(
                        "at most {:g} % chance of any in the session, shared over {} comparisons",
                        100 * state.workload.alpha, state.workload.comparisons)) +
           "</dl>";
  }
  out += html_list(neighbour_lines(state));
  const std::string spoiled =
      void_legs(state, "Void legs",
                "No evidence either way: done again, and held against no candidate.",
                [](const LegRecord& leg) { return !void_by_failure(leg); });
  const std::string failed =
      void_legs(state, "Servers that failed",
                "No neighbour's doing: these failed by themselves, and their pair was set aside.",
                void_by_failure);
  if (spoiled.empty() && failed.empty() && !out.empty()) return out + "<p>No leg was void.</p>";
  return out + spoiled + failed;
}

std::string html_time(const Findings& findings, const SessionState& state) {
  if (findings.total_s <= 0) return "";
  std::string out = "<div class=\"card\">" + time_bar(findings, state);
  out += "<div class=\"legend\"><span><i class=\"best\"></i>measuring " +
         html_text(format_duration(state.measuring_s)) +
         "</span><span><i class=\"stage\"></i>building " +
         html_text(format_duration(state.building_s)) +
         "</span><span><i class=\"stock\"></i>other " +
         html_text(format_duration(findings.other_s)) + "</span></div></div><dl>";
  out += html_row("Charged to the budget",
                  format_duration(state.spent_s) + " of " + format_duration(state.workload.time_s));
  if (state.unbudgeted_s > 0)
    out +=
        html_row("Before the first answer", format_duration(state.unbudgeted_s) + ", not charged");
  if (state.first_gain_at_s >= 0)
    out += html_row("First proven gain after", format_duration(state.first_gain_at_s));
  if (state.resumes > 0)
    out += html_row("Resumed", count_text(static_cast<size_t>(state.resumes), "time"));
  out += "</dl>";
  std::string rows;
  for (size_t i = 0; i < state.phases.size() && i < state.phase_at_s.size(); ++i) {
    rows += "<tr><td>" + html_text(state.phases[i].phase) + "</td><td class=\"n\">" +
            std::to_string(state.phases[i].cycle) + "</td><td class=\"n\">" +
            html_text(format_duration(state.phase_at_s[i])) + "</td><td class=\"wrap\">" +
            html_text(because_text(state.phases[i])) + "</td></tr>";
  }
  if (!rows.empty()) {
    out +=
        "<div class=\"scroll\"><table><tr><th>phase</th><th class=\"n\">cycle</th><th "
        "class=\"n\">entered at</th><th>because</th></tr>" +
        rows + "</table></div>";
  }
  return out;
}

std::string html_setting(const ReportInputs& inputs, const Findings& findings) {
  const SessionState& state = inputs.state;
  std::string out = "<dl>";
  if (state.probe) {
    const MachineFacts& machine = state.probe->machine;
    out += html_row("Machine", machine_text(machine)) +
           html_row("System", join({machine.os, machine.kernel}, ", "));
    if (state.probe->roofs.bandwidth_gb_s > 0) {
      out += html_row("Roofs measured",
                      figure_text(state.probe->roofs.bandwidth_gb_s) + " GB/s memory, " +
                          figure_text(state.probe->roofs.peak_gflop_s) + " GFLOP/s fp32");
    }
    out += html_row("Engine", engine_text(*state.probe)) +
           html_row("Model", model_text(state.probe->model));
  }
  out += html_row("Weights", state.workload.model_path.string()) +
         html_row("Traffic", traffic_text(state.workload.traffic)) +
         html_row("Objective", objective_text(state.workload.objective)) +
         html_row("Stock launch", launch_text(inputs.stock_launch, false));
  if (findings.stock_boot_s) {
    out += html_row(
        "Boot until the first answer",
        fmt::format("stock {:.1f} s", *findings.stock_boot_s) +
            (findings.best_boot_s ? fmt::format(", best {:.1f} s", *findings.best_boot_s) : ""));
  }
  return out + "</dl>";
}

std::string html_reproduction(const ReportInputs& inputs, const Findings& findings) {
  const SessionState& state = inputs.state;
  const std::string workload =
      state.workload.file.empty() ? "workload.yaml" : state.workload.file.string();
  std::string out = "<dl>" + html_row("Session", state.session) +
                    html_row("Folder", inputs.session_dir.string()) +
                    html_row("Journal SHA-256", findings.journal_sha256) +
                    html_row("Workload SHA-256", state.workload_sha256) +
                    html_row("Opened", state.opened_wall) +
                    html_row("Stopped because", findings.stopped_because) +
                    html_row("Written by", "hyperloom " HYPERLOOM_VERSION) + "</dl>";
  if (!inputs.best_launch.argv.empty())
    out += "<p>Start " + html_text(findings.launches) + ":</p><pre>sh launch.sh 8080</pre>";
  out += "<p>Measure everything again:</p><pre>hyperloom run " + html_text(shell_quote(workload)) +
         "</pre>";
  if (state.recipe) {
    // Its reason may be that the database could only be kept in memory: no claim of ours beside it.
    const std::string reason = state.recipe->reason.empty() ? "" : ": " + state.recipe->reason;
    out += "<p>" +
           html_text(state.recipe->written && state.recipe->items > 0
                         ? count_text(static_cast<size_t>(state.recipe->items), "item") +
                               " for the recipe database" + reason
                         : "Nothing was written to the recipe database" + reason) +
           "</p>";
  }
  return out;
}

}  // namespace hyperloom
