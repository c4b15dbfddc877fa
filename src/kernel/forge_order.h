// The built-in backend's judgement: which build variants are worth their compile time on this
// machine, best first.
#pragma once

#include <string>
#include <vector>

#include "engine/pack.h"
#include "kernel/toolchain.h"
#include "profile/profile.h"

namespace hyperloom {

struct ForgeView {                   // what the bundle says
  std::vector<BuildRecipe> recipes;  // offered
  BuildRecipe current;               // what runs now; id empty = unknown
  std::vector<std::string> failed;
  KernelTable kernels;
  Toolchain toolchain;
};

struct BuildOffer {
  std::string recipe;
  double expected_log =
      0;  // share x plausible speed-up x chance, summed over what the variant changes
  std::string why;
};

struct ForgeOrder {
  std::vector<BuildOffer> offers;    // highest expectation first; ties keep the pack's order
  std::vector<std::string> dropped;  // "id: reason"
};

ForgeOrder order_builds(const ForgeView& view);

}  // namespace hyperloom
