#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "report/charts.h"
#include "report/html_parts.h"
#include "report/style.h"
#include "report/words.h"

namespace hyperloom {
namespace {

std::string hero(const ReportInputs& inputs, const Findings& findings) {
  const SessionState& state = inputs.state;
  std::string out = "<header class=\"brand\"><span><b>hyperloom</b> report</span><span>" +
                    html_text(state.session) + "</span><span>" +
                    html_text(state.opened_wall.substr(0, 10)) + "</span></header>";
  if (inputs.provisional) {
    out += "<p class=\"banner\"><b>Provisional.</b> This session has not closed (" +
           html_text(replace_all(findings.stop_reason, "_", " ")) +
           "). What follows is what its journal holds so far; it may still change.</p>";
  }
  if (findings.result == "improved" && findings.claim.low > 0) {
    out += "<h1><em>" + ratio_text(findings.claim.mean) +
           "&times;</em> faster</h1><p class=\"range\">" +
           html_text(interval_text(findings.claim)) + " at 95 %, " +
           count_text(static_cast<size_t>(findings.claim.n), "fresh pair") +
           " of server boots, full stack against stock</p>";
  } else {
    out += "<h1 class=\"words\">" + html_text(findings.headline) + "</h1>";
  }
  if (!findings.subline.empty())
    out +=
        "<p class=\"lead\">" + replace_all(html_text(findings.subline), "-&gt;", "&rarr;") + "</p>";
  std::string setting;
  if (state.probe) {
    setting = model_text(state.probe->model) + " on " + engine_text(*state.probe) + "; " +
              machine_text(state.probe->machine) + "; ";
  }
  return out + "<p class=\"setting\">" + html_text(setting + traffic_text(state.workload.traffic)) +
         "</p>";
}

std::string tile(const std::string& name, const std::string& value) {
  return "<div class=\"tile\"><span>" + html_text(name) + "</span><b>" + html_text(value) +
         "</b></div>";
}

std::string tiles(const Findings& findings, const SessionState& state) {
  std::string out;
  const Objective& objective = state.workload.objective;
  if (findings.stock_value) out += tile("Stock", value_text(*findings.stock_value, objective));
  if (findings.best_value) out += tile("Best", value_text(*findings.best_value, objective));
  const QualityDone* quality = nullptr;
  for (const StageRow& stage : findings.stages) {
    if (stage.comparison && stage.comparison->quality) quality = &*stage.comparison->quality;
  }
  if (quality && quality->report.kl_done && quality->report.kl.ok) {
    out += tile("Same top token as stock", percent_text(quality->report.kl.top1));
  }
  if (findings.total_s > 0) out += tile("Session time", format_duration(findings.total_s));
  return out.empty() ? "" : "<div class=\"tiles\">" + out + "</div>";
}

std::string changes(const Findings& findings, const SessionState& state) {
  std::string items;
  for (const StageRow& stage : findings.stages) {
    if (!stage.change || stage.decision != "kept") continue;
    const Proposal* proposal =
        stage.comparison ? state.proposal(stage.comparison->intent.proposal) : nullptr;
    const bool numeric = stage.change->kind == "precision";
    items += "<li><code>" + html_text(stage.name) + "</code> " + html_chip(stage.change->kind) +
             (numeric ? " <span class=\"chip numeric\">numeric change</span>" : "") +
             (proposal ? "<div class=\"why\">" + html_text(proposal->intent.why) + "</div>" : "");
    for (const std::string& note : stage.unvalidated)
      items += "<div class=\"note\">" + html_text(note) + "</div>";
    items += "</li>";
  }
  return items.empty() ? "" : "<ol class=\"changes\">" + items + "</ol>";
}

std::string launch(const ReportInputs& inputs, const Findings& findings) {
  if (inputs.best_launch.argv.empty()) return "";
  return "<pre>" + html_text(launch_text(inputs.best_launch, true)) +
         "</pre><p class=\"hint\">This is " + html_text(findings.launches) +
         ". launch.sh beside this report starts the same: <code>sh launch.sh 8080</code></p>";
}

std::string legend(const char* first, const char* first_class, const char* second,
                   const char* second_class, const std::string& more = "") {
  return fmt::format(
      R"(<div class="legend"><span><i class="{}"></i>{}</span><span><i class="{}"></i>{}</span>{}</div>)",
      first_class, first, second_class, second, more);
}

std::string card(const std::string& top, const std::string& drawing) {
  return drawing.empty() ? "" : "<div class=\"card\">" + top + drawing + "</div>";
}

std::string roofline_words(const Findings& findings) {
  std::vector<std::string> words;
  const auto add = [&](const char* when, const ProfileNote* profile) {
    if (!profile) return;
    if (!profile->roofline.bound.empty())
      words.push_back(std::string(when) + ": bound by " + profile->roofline.bound);
    if (profile->roofline.gain_ceiling > 0 && profile->roofline.gain_ceiling < 10) {   // a loose bound tells nobody anything
      words.push_back(std::string(when) +
                      ": no configuration with these weights can be faster than " +
                      fmt::format("{:.2f}x", profile->roofline.gain_ceiling));
    }
  };
  add("before", findings.before);
  add("after", findings.after);
  return html_list(words);
}

std::string kernel_words(const Findings& findings) {
  std::vector<std::string> words;
  const auto add = [&](const char* when, const ProfileNote* profile) {
    if (!profile) return;
    const KernelTable& table = profile->kernels;
    if (table.rows.empty()) {
      words.push_back(std::string(when) + ": no profile, " + table.source);
    } else {
      words.push_back(fmt::format("{}: {} samples by {}; kernels {}, barriers {}, host {}", when,
                                  table.samples, table.source, percent_text(table.kernel_share),
                                  percent_text(table.barrier_share),
                                  percent_text(table.host_share)));
    }
  };
  add("before", findings.before);
  add("after", findings.after);
  return html_list(words);
}

std::string charts(const Findings& findings, const SessionState& state) {
  const std::string both = legend("before (stock)", "stock", "after (best)", "best");
  std::string out =
      html_section("Stage by stage",
                   "Each stage starts where the one before it ended. Its deciding pairs overstate "
                   "its effect, because they also decided; only the last row, "
                   "fresh pairs of the full stack against stock, is a claim. Log scale.",
                   card(legend("deciding pairs (overstates)", "stage", "fresh pairs: the claim",
                               "claim", "<span><i class=\"round dot\"></i>one pair</span>"),
                        stage_waterfall(findings)));
  out += html_section("What each change is worth",
                      "Taken out of the full stack one at a time, on fresh pairs.",
                      html_contributions(state));
  out += html_section("Limits", "Medians over the legs.", html_limits(findings));
  const std::string roofline = card(both, roofline_chart(findings));
  out += html_section(
      "Headroom",
      "Share of the roof that is reached, by direction. At 95 % a direction counts as closed.",
      roofline.empty() ? "" : roofline + roofline_words(findings));
  const std::string sweep = sweep_heat_map(state);
  out += html_section(
      "Other operating points",
      "Best against stock away from the tuned point; below the ratio the values in " +
          shown_unit(state.workload.objective) + ". Single legs: an indication, not a proof.",
      sweep.empty() ? "" : "<div class=\"card\">" + sweep + "</div>");
  const std::string kernels = card(both, kernel_chart(findings));
  const std::string words = kernel_words(findings);
  return out + html_section("Where the time goes inside the server", "Share of samples by symbol.",
                            kernels.empty() ? words : kernels + words);
}

}  // namespace

std::string render_html(const ReportInputs& inputs) {
  const SessionState& state = inputs.state;
  const Findings findings = gather(inputs);
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\"><title>" +
      html_text("hyperloom: " + findings.headline) + "</title><style>" + kReportStyle +
      "</style></head>\n<body><main>\n";
  out += hero(inputs, findings) + tiles(findings, state) + "\n";
  out += html_section("What was changed", "", changes(findings, state));
  out += html_section("Launch it", "", launch(inputs, findings));
  out += charts(findings, state);
  out += html_section("Every decision and its evidence", "", html_decisions(findings, state));
  out += html_section("Never compared", "", html_untried(state));
  out += html_section("Getting it to run", "", html_enablement(state));
  out += html_section("Not validated, and good to know", "", html_list(findings.unvalidated));
  out += html_section("Noise of this host", "", html_noise(state));
  out += html_section("Time", "", html_time(findings, state));
  out += html_section("Setting", "", html_setting(inputs, findings));
  std::vector<std::string> notices = state.notices;
  for (const Intent& alert : state.alerts) notices.push_back(alert.role + ": " + alert.why);
  out += html_section("Notices", "", html_list(notices));
  out += html_section("Reproduction", "", html_reproduction(inputs, findings));
  return out +
         "<footer>Made from the session's journal alone. Speed-ups above 1 are better, for "
         "latencies too.</footer>\n</main></body></html>\n";
}

}  // namespace hyperloom
