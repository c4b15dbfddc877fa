// `hyperloom doctor --noise`: A/A boots of a workload's stock engine.
#pragma once

#include "cli/commands.h"

namespace hyperloom {

int doctor_noise(const DoctorOptions& options);
std::string cpu_governor();            // of the first core; "" where the kernel does not tell

}  // namespace hyperloom
