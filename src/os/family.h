// A child and all that it started: found, signalled and waited for. Used by Child and
// kill_left_over.
#pragma once

#include <vector>

#include "os/child.h"
#include "os/procfs.h"

namespace hyperloom {

// Held: the root is our child and not reaped, so its pid, group and session are certainly still its
// own. Left: an earlier process of ours started it; every sign is checked against start times and
// marks.
enum class Claim { Held, Left };

// Members alive now, the root among them; zombies are not alive. One walk over /proc.
std::vector<ProcStat> living_family(const ProcessHandle& root, Claim claim);

// Waits until each of these has ended; false when one still lives after `seconds`.
bool wait_until_ended(const std::vector<ProcStat>& members, double seconds);

// SIGKILL to all, again and again until nobody is left. `killed` = somebody was there to kill.
struct Killed {
  bool killed = false, all_gone = true;
};
Killed kill_family(const ProcessHandle& root, Claim claim, double limit_s);

}  // namespace hyperloom
