#include "cli/terminal.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/printable.h"
#include "base/text.h"

namespace hyperloom {
namespace {

int columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
}

std::string times(double log_ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", std::exp(log_ratio));
  return text;
}

// The incumbent's gain as the deciding pairs saw it: for the live line only.
std::string gain(const SessionState& s) {
  double sum = 0, var = 0;
  for (const Comparison& c : s.comparisons) {
    const Proposal* p = s.proposal(c.intent.proposal);
    if (!p || p->status != ProposalStatus::Kept || p->comparison != c.intent.id || !c.decided) continue;
    sum += c.decided->look.raw;
    if (c.decided->look.n > 0) var += c.decided->look.s * c.decided->look.s / c.decided->look.n;
  }
  if (sum == 0) return "1.00x";
  double half = 2 * std::sqrt(var);
  return times(sum) + " [" + times(sum - half) + ", " + times(sum + half) + "]";
}

}  // namespace

Terminal::Terminal() : live_(isatty(STDERR_FILENO) && !std::getenv("CI")) {}

void Terminal::clear() {
  if (live_) std::fputs("\r\033[K", stderr);
}

void Terminal::line(const std::string& text) {
  clear();
  std::fprintf(stderr, "%s\n", printable(text).c_str());
  std::fflush(stderr);
  if (live_) draw();
}

void Terminal::draw() {
  if (!live_ || work_.empty()) return;
  std::string text = head_ + " | " + work_ + (detail_.empty() ? "" : " | " + detail_);
  size_t width = static_cast<size_t>(columns()) - 1;
  std::fprintf(stderr, "\r\033[K%s", one_line(text, width).c_str());
  std::fflush(stderr);
  drawn_at_ = SystemClock().mono_s();
}

void Terminal::work(const SessionState& s, const std::string& what) {
  head_ = s.phase + (s.cycle > 1 ? " " + std::to_string(s.cycle) : "") + " | " + gain(s);
  if (s.enabled) head_ += " | " + format_duration(std::max(0.0, s.left_s())) + " left";
  work_ = what;
  detail_.clear();
  if (live_) draw();
  else line("[" + head_ + "] " + what);
}

void Terminal::progress(const std::string& detail) {
  detail_ = detail;
  if (live_ && SystemClock().mono_s() - drawn_at_ > 0.2) draw();
}

void Terminal::entry(const SessionState& s, const Entry& e) {
  const Json& b = *e.body;
  if (e.type == "phase.entered") {
    line("== " + b.at("phase").get<std::string>() + " (" + b.value("reason", "") + (b.value("evidence", "").empty() ? "" : ": " + b.value("evidence", "")) + ")");
  } else if (e.type == "leg.done") {
    const LegRecord* leg = s.leg(b.at("id"));
    if (leg && leg->done->result) {
      char text[160];
      std::snprintf(text, sizeof text, "   %-4s %-8s %-34.34s %9.2f %s", leg->plan.id.c_str(), leg->plan.purpose.c_str(),
                    leg->plan.candidate.text().c_str(), leg->done->result->value, objective_unit(s.workload.objective).c_str());
      line(text);
    } else if (leg && leg->done->exam) {
      const ExamSheet& sheet = *leg->done->exam;
      const auto right = std::count_if(sheet.answers.begin(), sheet.answers.end(), [](const ExamAnswer& a) { return a.right; });
      line("   " + leg->plan.id + " exam     " + leg->plan.candidate.text() + ": " + std::to_string(right) + " of " + std::to_string(sheet.answers.size()) + " answers right");
    } else if (leg && leg->done->failure) {
      line("   " + leg->plan.id + " failed: " + leg->done->failure->text());
    }
  } else if (e.type == "leg.void") {
    line("   " + b.at("id").get<std::string>() + " void: " + b.value("reason", ""));
  } else if (e.type == "build.done") {
    line("   build " + b.at("recipe").get<std::string>() + (b.value("ok", false) ? b.value("from_cache", false) ? ": from cache" : ": ok" : " failed: " + b.value("error", "")));
  } else if (e.type == "comparison.decided") {
    const Comparison* c = s.comparison(b.at("comparison"));
    line(" * " + (c ? c->intent.change.text() : "") + ": " + b.at("verdict").get<std::string>() + " (" + b.value("why", "") + ")");
  } else if (e.type == "verdict" && !b.value("sign", false)) {
    line(" * the critic refuses: " + b.value("why", ""));
  } else if (e.type == "kept") {
    line(" + kept; the incumbent is now " + s.incumbent.text());
  } else if (e.type == "reverted" && b.value("code", "") != "not_faster" && b.value("code", "") != "no_budget") {
    const Proposal* p = s.proposal(b.at("proposal"));
    line(" - " + (p ? p->intent.change.text() : "") + " dropped: " + b.at("code").get<std::string>() + " (" + b.value("why", "") + ")");
  } else if (e.type == "probe" && b.contains("notice")) {
    line("   note: " + b["notice"].get<std::string>());
  }
}

}  // namespace hyperloom
