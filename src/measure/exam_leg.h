// One boot of a server for one sitting of the exam. Nothing is timed, so a neighbour spoils nothing.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "measure/exam.h"
#include "measure/leg.h"

namespace hyperloom {

struct ExamLegOrder {
  LaunchSpec launch;
  ExamOrder exam;                        // url and stop_flag are set here
  bool ran_before = false;               // as in LegOrder
};

struct NoExam { std::string reason; };   // no evidence (L8): stopped, out of time, a port taken, not gone

// The sheet is whole, or ends where the server was proven worse than `exam.stock`. Failure: it did not boot, or died.
std::variant<ExamSheet, Failure, NoExam> run_exam_leg(const Pack& pack, const ExamLegOrder& order, const std::filesystem::path& log, const LegHooks& hooks);

}  // namespace hyperloom
