// Each request in flight needs a file descriptor.
#pragma once

namespace hyperloom {

// How many requests may be in flight, the process's soft limit raised to its hard one if `wanted` (0 = as many as
// there are) needs it.
int connections_possible(int wanted);

// Error(BadInput) that names the limit and the mend unless `clients` can be in flight at once. `flag` is what asked.
void require_connections(int clients, const char* flag);

}  // namespace hyperloom
