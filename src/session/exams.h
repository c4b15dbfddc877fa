// The exam's part of a session (measure/exam.h): two sittings of stock in the prelude, one of each would-be keep, judged
// from the sheets that the journal holds. A budget too short for it goes without, and the report says so.
#pragma once

#include <optional>

#include "session/rules.h"

namespace hyperloom {

// Stock's sittings, then whether there are exams in this session; nothing once that is decided.
std::optional<Step> stock_exams(const SessionState& state);
// The sitting of a comparison's candidate, then its judgement; nothing when judged, or when there are no exams.
std::optional<Step> exam_of(const Rules& rules, const SessionState& state, const Comparison& comparison);

// What a leg of purpose exam asks: items and clients from its plan, the limit, and stock's sheet where that is known.
ExamOrder exam_order(const SessionState& state, const LegPlan& plan);

}  // namespace hyperloom
