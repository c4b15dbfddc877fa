#include <algorithm>

#include "report/findings.h"

namespace hyperloom {

Untried untried_proposals(const SessionState& state) {
  Untried untried;
  std::vector<std::string> seen;
  for (auto p = state.proposals.rbegin(); p != state.proposals.rend(); ++p) {
    const std::string change = p->intent.change.text();
    if (std::find(seen.begin(), seen.end(), change) != seen.end()) continue;
    seen.push_back(change);
    if (!p->comparison.empty()) continue;
    if (p->reverted && p->reverted->code == "no_budget") {
      untried.no_time.push_back(change);
    } else {
      untried.judged.push_back(&*p);
    }
  }
  std::reverse(untried.judged.begin(), untried.judged.end());
  std::reverse(untried.no_time.begin(), untried.no_time.end());
  return untried;
}

}  // namespace hyperloom
