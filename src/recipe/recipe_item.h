// Items as rows keep them, and how several measurements of one change become one.
#pragma once

#include <string>
#include <vector>

#include "recipe/recipe_db.h"

namespace hyperloom {

Json item_json(const RecipeItem& item);
RecipeItem item_from_json(const Json& json);             // Error(BadInput) on a missing or mistyped field
std::string canonical_text(const Json& json);            // sorted keys, no blanks

// Why an item may not be written; "" = it may. Gains need a proof.
std::string unproven(const RecipeItem& item);

// One item a change and outcome (measured, or failed): means weighted by 1 / variance, pairs added up, legs joined;
// verdict, session and signature of the last. Order of first appearance. A failure never hides a measurement.
std::vector<RecipeItem> pool_items(const std::vector<RecipeItem>& items);

}  // namespace hyperloom
