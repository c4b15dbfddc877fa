// Was the client itself the bottleneck? What its thread used, waited for and was late with.
#pragma once

#include <string>
#include <vector>

#include "load/metrics.h"

namespace hyperloom {

struct ThreadCost { double cpu_s = 0, waited_s = 0; };   // waited: ready to run, but no CPU was free; 0 where the kernel does not tell
ThreadCost thread_cost();                                // of the calling thread since it began

struct ClientHealth {
  double elapsed_s = 0, cpu_s = 0, waited_s = 0;         // of the run
  double loop_delay_ms = 0;                              // worst lateness of a timer
};

// One line for each sign; none when the figures are the server's.
std::vector<std::string> client_warnings(const ClientHealth& health, const LoadSummary& summary);

}  // namespace hyperloom
