// Costs as they were measured, and what Close needs, set aside from the start.
#pragma once

#include "state/session_state.h"

namespace hyperloom {

double leg_cost_s(const SessionState& state);       // a full leg, boot to gone; from recent legs
double pair_cost_s(const SessionState& state);
double quality_cost_s(const SessionState& state);     // of a would-be keep: divergence and exam
double exam_cost_s(const SessionState& state);        // of one sitting, boot to gone; before the first an estimate from stock's legs
double exam_reserve_s(const SessionState& state);     // the same; 0 where this session has no exams
double close_reserve_s(const SessionState& state);  // final pairs, ablation, profile
double searchable_s(const SessionState& state);     // left, less the reserve
// For making a build or weights that a comparison needs. Until something is kept: so that its verdict still comes within
// a quarter of the budget (L10).
double preparation_limit_s(const SessionState& state);
int final_pairs_wanted(const SessionState& state);  // 5, or 8 when the gain is below twice the pair noise
int stock_legs_wanted(const SessionState& state);
double kernel_reserve_s(const SessionState& state);   // what flags may not spend before builds had their turn; 0 when it would buy none
double least_budget_s(const SessionState& state);   // what this workload needs here

}  // namespace hyperloom
