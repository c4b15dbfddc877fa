// The texts of a recipe key's columns, and how near two keys are.
#pragma once

#include <optional>
#include <string>

#include "os/machine.h"
#include "recipe/recipe_db.h"
#include "workload/workload.h"

namespace hyperloom {

std::string hardware_text(const MachineFacts& machine);
// Clients or rate and lengths in log2 buckets: 8 clients and 11 share one, 64 tokens and 90 share one.
std::string workload_class_text(const Workload& workload);

// In the order of docs/formats.md, with the confidence before any replay was seen.
struct Relaxation {
  const char* name;
  double confidence;
};
const std::vector<Relaxation>& relaxations();    // [0] is the exact match, ""
// The one relaxation under which `stored` fits `asked`, or nothing when they differ by more than one.
std::optional<Relaxation> relaxation_between(const RecipeKey& asked, const RecipeKey& stored);

}  // namespace hyperloom
