// The parts of report.html. Every text in them went through html_text().
#pragma once

#include <string>

#include "report/findings.h"

namespace hyperloom {

std::string html_section(const std::string& title, const std::string& hint,
                         const std::string& body);  // "" when body is ""
std::string html_row(const std::string& term,
                     const std::string& text);  // of a <dl>; escapes; "" when text is ""
std::string html_list(const std::vector<std::string>& texts);  // escapes
std::string html_chip(const std::string& word);

std::string html_decisions(const Findings& findings,
                           const SessionState& state);  // each comparison with its evidence
std::string html_untried(const SessionState& state);    // refused, screened out, never measured
std::string html_enablement(const SessionState& state);
std::string html_limits(const Findings& findings);
std::string html_contributions(const SessionState& state);
std::string html_noise(const SessionState& state);
std::string html_time(const Findings& findings, const SessionState& state);
std::string html_setting(const ReportInputs& inputs,
                         const Findings& findings);  // machine, engine, model, workload
std::string html_reproduction(const ReportInputs& inputs, const Findings& findings);

}  // namespace hyperloom
