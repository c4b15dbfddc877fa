// The two ways of `hyperloom compare`.
#pragma once

#include "cli/commands.h"

namespace hyperloom {

int compare_boots(const CompareOptions& options, const Traffic& traffic);      // a and b are launch commands
int compare_servers(const CompareOptions& options, const Traffic& traffic);    // a and b are URLs

}  // namespace hyperloom
