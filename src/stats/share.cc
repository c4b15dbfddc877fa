#include "stats/share.h"

#include <algorithm>
#include <cmath>

namespace hyperloom {

Share wilson(int hits, int of, double z) {
  Share share{.hits = hits, .of = of};
  if (of <= 0) return share;
  const double n = of, p = hits / n, zz = z * z / n;
  const double centre = (p + zz / 2) / (1 + zz), half = z / (1 + zz) * std::sqrt(p * (1 - p) / n + zz / (4 * n));
  share.low = hits == 0 ? 0 : std::max(0.0, centre - half);
  share.high = hits == of ? 1 : std::min(1.0, centre + half);
  return share;
}

}  // namespace hyperloom
