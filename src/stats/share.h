// A share of trials and how well it is known.
#pragma once

namespace hyperloom {

struct Share {
  int hits = 0, of = 0;
  double low = 0, high = 0;      // Wilson's score interval, 95 % unless z says otherwise
  double value() const { return of ? static_cast<double>(hits) / of : 0; }
};
// Wilson 1927: holds for shares near 0 and 1 too. [0, 0] of nothing.
Share wilson(int hits, int of, double z = 1.959964);

}  // namespace hyperloom
