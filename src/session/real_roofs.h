// What memory and multipliers of this machine can do, measured in a child of ours: its buffers count as the
// child's memory, and a machine that kills it for them kills no session.
#pragma once

#include <cstdint>

#include "profile/roofline.h"

namespace hyperloom {

MachineRoofs measure_roofs(uint64_t working_set_bytes, int threads);   // zeros (unknown) when the child fails
// The child: `hyperloom roofs BYTES THREADS`; prints JSON; the exit status.
int roofs_main(const char* working_set_bytes, const char* threads);

}  // namespace hyperloom
