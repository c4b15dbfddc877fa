#include "recipe/recipe_item.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hyperloom {
namespace {

constexpr int kLeastPairs = 3;   // the sequential test's own minimum

bool measured(const RecipeItem& item) { return item.pairs > 0; }

void add(RecipeItem& into, const RecipeItem& next) {
  // A variance of 0 says that none is known (one pair): then pairs are the weight.
  const bool variances = into.var_log > 0 && next.var_log > 0;
  const double a = variances ? 1 / into.var_log : into.pairs;
  const double b = variances ? 1 / next.var_log : next.pairs;
  if (a + b > 0) into.mean_log = (a * into.mean_log + b * next.mean_log) / (a + b);
  into.var_log = variances ? 1 / (a + b) : std::max(into.var_log, next.var_log);
  into.pairs += next.pairs;
  for (const std::string& leg : next.legs) {
    if (std::find(into.legs.begin(), into.legs.end(), leg) == into.legs.end()) into.legs.push_back(leg);
  }
  into.verdict = next.verdict;
  into.session = next.session;
  into.signature = next.signature;
}

}  // namespace

Json item_json(const RecipeItem& item) {
  Json json = {{"change", {{"kind", item.change.kind}, {"knob", item.change.knob}, {"value", item.change.value}}},
               {"pairs", item.pairs},
               {"mean_log", item.mean_log},
               {"var_log", item.var_log},
               {"legs", item.legs},
               {"verdict", item.verdict},
               {"session", item.session}};
  if (!item.signature.empty()) json["signature"] = item.signature;
  return json;
}

RecipeItem item_from_json(const Json& json) {
  try {
    RecipeItem item;
    const Json& change = json.at("change");
    item.change.kind = change.at("kind").get<std::string>();
    item.change.knob = change.at("knob").get<std::string>();
    item.change.value = change.at("value").get<std::string>();
    item.pairs = json.at("pairs").get<int>();
    item.mean_log = json.at("mean_log").get<double>();
    item.var_log = json.at("var_log").get<double>();
    item.legs = json.at("legs").get<std::vector<std::string>>();
    item.verdict = json.at("verdict").get<std::string>();
    item.session = json.at("session").get<std::string>();
    item.signature = json.value("signature", "");
    return item;
  } catch (const Json::exception& e) {
    throw bad_input(std::string("recipe item: ") + e.what());
  }
}

std::string canonical_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string unproven(const RecipeItem& item) {
  if (item.change.knob.empty()) return "it names no knob";
  if (!std::isfinite(item.mean_log) || !std::isfinite(item.var_log) || item.var_log < 0) return "its figures are no numbers";
  if (item.session.empty()) return "it names no session";
  if (item.verdict != "faster") return "";
  if (item.pairs < kLeastPairs) return "a gain needs " + std::to_string(kLeastPairs) + " pairs, it has " + std::to_string(item.pairs);
  if (item.legs.empty()) return "a gain needs its legs";
  if (item.mean_log <= 0) return "it is called faster, but its mean is not";
  return "";
}

std::vector<RecipeItem> pool_items(const std::vector<RecipeItem>& items) {
  std::vector<RecipeItem> pooled;
  for (const RecipeItem& item : items) {
    const auto same = std::find_if(pooled.begin(), pooled.end(), [&](const RecipeItem& p) {
      return p.change == item.change && measured(p) == measured(item);
    });
    if (same == pooled.end()) pooled.push_back(item);
    else add(*same, item);
  }
  return pooled;
}

}  // namespace hyperloom
