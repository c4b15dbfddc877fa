// How fast a core runs right now, by running on it: seen where the kernel tells no clock, and where
// a hypervisor shares the core without owning up to it.
#pragma once

namespace hyperloom {

// Steps of a fixed chain of dependent multiplications per second of CPU time, in millions: the
// better of two runs of about 0.1 ms. Proportional to the core's clock; lower too when a neighbour
// shares the core's units. Comparable on one machine only.
double probe_speed_msteps_s();

}  // namespace hyperloom
