#include "recipe/recipe_item.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hyperloom {
namespace {

RecipeItem item(double mean, double var, int pairs = 4, const std::string& verdict = "faster") {
  return {.change = {"flag", "-np", "8"}, .pairs = pairs, .mean_log = mean, .var_log = var, .legs = {"a"}, .verdict = verdict,
          .session = "s"};
}

TEST(PoolItems, WeighsByPrecisionAndKeepsTheLastVerdict) {
  RecipeItem second = item(0.0, 0.003, 6, "not_useful");
  second.legs = {"a", "b"};
  const auto pooled = pool_items({item(0.1, 0.001), second});
  ASSERT_EQ(pooled.size(), 1u);
  EXPECT_NEAR(pooled[0].mean_log, 0.075, 1e-12);
  EXPECT_NEAR(pooled[0].var_log, 0.00075, 1e-12);
  EXPECT_EQ(pooled[0].pairs, 10);
  EXPECT_EQ(pooled[0].legs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(pooled[0].verdict, "not_useful");
}

TEST(PoolItems, WithoutAVariancePairsAreTheWeight) {
  const auto pooled = pool_items({item(0.1, 0, 1), item(0.2, 0.001, 3)});
  EXPECT_NEAR(pooled[0].mean_log, 0.175, 1e-12);
  EXPECT_EQ(pooled[0].var_log, 0.001);
}

TEST(PoolItems, AFailureStaysBesideTheMeasurement) {
  RecipeItem failed = item(0, 0, 0, "failed");
  failed.signature = "oom";
  const auto pooled = pool_items({item(0.1, 0.001), failed, failed});
  ASSERT_EQ(pooled.size(), 2u);
  EXPECT_EQ(pooled[0].verdict, "faster");
  EXPECT_EQ(pooled[1].signature, "oom");
}

TEST(RecipeItemJson, RoundTripAndMissingField) {
  const RecipeItem one = item(0.1, 1.0 / 3e4);
  EXPECT_EQ(item_json(item_from_json(item_json(one))), item_json(one));
  Json broken = item_json(one);
  broken.erase("legs");
  EXPECT_THROW(item_from_json(broken), Error);
}

}  // namespace
}  // namespace hyperloom
