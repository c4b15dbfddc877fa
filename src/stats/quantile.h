// Summaries of samples. Percentiles are nearest rank.
#pragma once

#include <vector>

namespace hyperloom {

double mean(const std::vector<double>& values);               // 0 when empty
double sample_sd(const std::vector<double>& values);          // Welford; 0 below two values
double percentile(std::vector<double> values, double percent);  // nearest rank; 0 when empty
double slope_t(const std::vector<double>& values);            // t statistic of a straight line's slope over the index

}  // namespace hyperloom
