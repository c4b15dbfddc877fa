#include "report/exam_lines.h"

#include "base/text.h"
#include "report/words.h"

namespace hyperloom {
namespace {

std::string shares(const ExamReport& report) {
  return percent_text(report.share_right) + " of " + std::to_string(report.compared) + " answers right (stock " + percent_text(report.stock_right) + "), " +
         percent_text(report.agreement) + " stock's own words (stock asked again " + percent_text(report.stock_agreement) + ")";
}

std::string blind(const ExamReport& report) {
  std::vector<std::string> names;
  for (const ExamCheck& check : report.checks)
    if (check.verdict == ExamVerdict::Blind) names.push_back(check.name);
  return names.empty() ? "" : "; it cannot see here: " + join(names, ", ");
}

const ExamDone* of_last_keep(const SessionState& state) {
  const ExamDone* last = nullptr;
  for (const Stage& stage : state.stages)
    if (const Comparison* comparison = state.comparison(stage.comparison); comparison && comparison->exam) last = &*comparison->exam;
  return last;
}

}  // namespace

std::vector<std::string> exam_lines(const ExamReport& report) {
  std::vector<std::string> lines;
  if (report.compared > 0) lines.push_back("exam: " + shares(report) + blind(report));
  for (const std::string& failure : report.failures) lines.push_back("broken: " + failure);
  return lines;
}

std::string exam_summary(const SessionState& state) {
  if (!state.exam) return "";
  if (!state.exam->on) return state.exam->notice;
  if (const ExamDone* last = of_last_keep(state)) return "exam of all that was kept: " + shares(last->report) + blind(last->report);
  return "exam: stock sat it twice, nothing that was kept needed it";
}

}  // namespace hyperloom
