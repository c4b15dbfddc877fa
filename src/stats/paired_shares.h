// "The candidate answers no worse than stock", from the same items asked of both: paired shares (McNemar's discordant
// items), read item by item. A broken candidate dies within a few items, a sound one passes at the first look that
// proves it. Formulas and constants: docs/measurement-quality.md (research: statistics.md section 8).
#pragma once

#include <vector>

namespace hyperloom {

// One item of the pair: +1 stock right and candidate wrong, -1 the reverse, 0 both alike.
struct ShareTest {
  double margin = 0.02;                  // the drop of the share that must be excluded: 0.02 = 2 points
  std::vector<int> looks;                // items at which a pass may be declared, ascending; see share_looks()
  double alpha = 0.05;                   // chance to pass a candidate that lies on the margin, over all looks
  double kill = 1000;                    // 1 / chance to kill a candidate that is no worse, over all items
};

// An eighth, a quarter, half and all of `items`: the four looks that the operating characteristics were simulated with.
// Fewer where they would coincide; none of no items.
std::vector<int> share_looks(int items);

enum class ShareVerdict { Continue, Held, Worse, Unproven };
const char* name_of(ShareVerdict verdict);   // "continue", "held", "worse", "unproven"

struct ShareLook {
  int n = 0;                             // items up to the decision; all of them while there is none
  int lost = 0, won = 0;                 // discordant items: candidate wrong where stock was right, and the reverse
  double drop = 0;                       // (lost - won) / n, as a share
  double e_value = 1;                    // evidence that the candidate is worse: mean of prod(1 + lambda x); kills at `kill`
  double p = 1, bound = 0;               // of "the drop is the margin or more", at the last look reached
  ShareVerdict verdict = ShareVerdict::Continue;
};

// The first decision in the order of the items; what follows it changes nothing, so looking again after each item is
// allowed. Unproven = the last look did not pass. Error(Internal): an item outside -1..1, no margin, looks out of order.
ShareLook judge_shares(const std::vector<int>& items, const ShareTest& test);

}  // namespace hyperloom
