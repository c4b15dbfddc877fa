// Distribution functions. The only file that includes Boost.Math: its headers are slow to compile.
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "stats/sequential.h"

namespace hyperloom {

double student_t_upper_tail(double t, double nu) {
  if (!(nu > 0) || std::isnan(t)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  return boost::math::cdf(boost::math::complement(boost::math::students_t(nu), t));
}

double student_t_upper_quantile(double p, double nu) {
  if (!(nu > 0) || !(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0) return std::numeric_limits<double>::infinity();
  if (p == 1) return -std::numeric_limits<double>::infinity();
  return boost::math::quantile(boost::math::complement(boost::math::students_t(nu), p));
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace hyperloom
