// The report's charts. Each returns HTML (an <svg> or a wrapper), or "" when there is nothing to
// draw.
#pragma once

#include <string>

#include "report/findings.h"

namespace hyperloom {

// Each kept stage from where the one before ended, then the claim from 1; pairs as dots, log axis.
std::string stage_waterfall(const Findings& findings);
// The pairs of one comparison around 1, log axis.
std::string pair_strip(const StageRow& stage);
std::string roofline_chart(const Findings& findings);
std::string kernel_chart(const Findings& findings);
std::string sweep_heat_map(const SessionState& state);
std::string time_bar(const Findings& findings, const SessionState& state);

}  // namespace hyperloom
