// What the exam says in a report (measure/exam.h).
#pragma once

#include <string>
#include <vector>

#include "state/session_state.h"

namespace hyperloom {

// One comparison's: shares, each check that did not hold or could not see, failures.
std::vector<std::string> exam_lines(const ExamReport& report);
// The whole session's, one line: what the last kept candidate showed, or why there were no exams; "" before that is decided.
std::string exam_summary(const SessionState& state);

}  // namespace hyperloom
