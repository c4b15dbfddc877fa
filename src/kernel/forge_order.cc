#include "kernel/forge_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "kernel/bundle.h"

namespace hyperloom {
namespace {

struct Shares {
  double matmul = 0, kernel = 0, barrier = 0, host = 0;
  bool known = false;
};

// Without a profile nothing is dropped for a small share: a drop needs evidence. The guess only
// orders.
constexpr Shares kGuess = {0.6, 0.8, 0.05, 0.15, false};

Shares shares_of(const KernelTable& table) {
  if (table.samples <= 0) return kGuess;
  Shares shares = {0, table.kernel_share, table.barrier_share, table.host_share, true};
  for (const KernelRow& row : table.rows)
    if (row.group == "matmul") shares.matmul += row.share;
  return shares;
}

struct Setting {
  std::string key, value;
};

// "-DKEY:TYPE=VALUE", "CC=clang": upper-case key.
std::vector<Setting> settings_of(const BuildRecipe& recipe) {
  std::vector<Setting> settings;
  for (const std::string& word : recipe.configure) {
    const auto equals = word.find('=');
    if (!starts_with(word, "-D") || equals == std::string::npos) continue;
    settings.push_back(
        {word.substr(2, std::min(word.find(':'), equals) - 2), word.substr(equals + 1)});
  }
  for (const auto& [key, value] : recipe.env) settings.push_back({key, value});
  return settings;
}

bool on(const Setting& setting) {
  for (const char* word : {"ON", "1", "TRUE", "YES", "on"})
    if (setting.value == word) return true;
  return false;
}

bool mentions(const Setting& setting, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (setting.key.find(word) != std::string::npos ||
        setting.value.find(word) != std::string::npos)
      return true;
  return false;
}

// What a setting can change, where that time is spent, what it plausibly gains there, and how often
// it does. The numbers are priors from published and our own trials; they order work and decide
// nothing.
struct Lever {
  const char* name;
  const char* where;
  double Shares::* share;
  double speedup, chance;
  double least_share;  // below it, and measured, the lever is not worth a build
  bool (*pulled)(const Setting&);
};

const Lever kLevers[] = {
    {"own threads instead of OpenMP", "barriers", &Shares::barrier, 1.5, 0.3, 0.08,
     [](const Setting& s) { return mentions(s, {"OPENMP"}) && !on(s); }},
    {"repacked weights", "matrix kernels", &Shares::matmul, 1.3, 0.5, 0.2,
     [](const Setting& s) { return mentions(s, {"REPACK"}) && on(s); }},
    {"weights as they lie", "matrix kernels", &Shares::matmul, 1.1, 0.2, 0.2,
     [](const Setting& s) { return mentions(s, {"REPACK"}) && !on(s); }},
    {"a BLAS", "matrix kernels", &Shares::matmul, 1.1, 0.2, 0.2,
     [](const Setting& s) { return mentions(s, {"BLAS"}) && !mentions(s, {"VENDOR"}) && on(s); }},
    {"other matrix kernels", "matrix kernels", &Shares::matmul, 1.1, 0.2, 0.1,
     [](const Setting& s) { return mentions(s, {"SGEMM", "TILE"}); }},
    {"instruction sets", "kernels", &Shares::kernel, 1.2, 0.3, 0,
     [](const Setting& s) {
       return mentions(
           s, {"NATIVE", "AVX", "AMX", "VNNI", "SVE", "DOTPROD", "FP16", "march=", "mcpu="});
     }},
    {"another compiler", "kernels", &Shares::kernel, 1.05, 0.4, 0,
     [](const Setting& s) { return ends_with(s.key, "CXX_COMPILER") || s.key == "CXX"; }},
    {"compiler flags", "kernels", &Shares::kernel, 1.03, 0.3, 0,
     [](const Setting& s) { return mentions(s, {"_FLAGS"}) && !mentions(s, {"march=", "mcpu="}); }},
    {"link-time optimization", "the host's code", &Shares::host, 1.1, 0.3, 0.05,
     [](const Setting& s) { return mentions(s, {"LTO", "INTERPROCEDURAL"}) && on(s); }},
};

constexpr double kWholeBuild = 8;   // measured: 4 minutes against half a minute, with a compiler cache

double amdahl_log(double share, double speedup) { return -std::log(1 - share * (1 - 1 / speedup)); }

std::vector<Setting> changed_settings(const BuildRecipe& recipe, const BuildRecipe& current) {
  std::vector<Setting> changed;
  const std::vector<Setting> now = settings_of(current);
  for (const Setting& setting : settings_of(recipe))
    if (std::none_of(now.begin(), now.end(), [&](const Setting& s) {
          return s.key == setting.key && s.value == setting.value;
        }))
      changed.push_back(setting);
  return changed;
}

bool has(const std::vector<Tool>& tools, const std::string& name) {
  return std::any_of(tools.begin(), tools.end(),
                     [&](const Tool& tool) { return tool.name == name || tool.path == name; });
}

// Why the variant cannot be built here, or "".
std::string missing_tool(const BuildRecipe& recipe, const Toolchain& toolchain) {
  for (const std::string& compiler : compilers_of(recipe))
    if (!has(toolchain.programs, compiler)) return "compiler " + compiler + " is not installed";
  for (const Setting& setting : settings_of(recipe))
    if (mentions(setting, {"BLAS"}) && !mentions(setting, {"VENDOR"}) && on(setting) &&
        toolchain.libraries.empty())
      return "no BLAS library is installed";
  return "";
}

struct Estimate {
  double expected_log = 0;
  std::string why, too_small;
};

Estimate estimate(const BuildRecipe& recipe, const BuildRecipe& current, const Shares& shares) {
  Estimate made;
  const std::vector<Setting> changed = changed_settings(recipe, current);
  bool pulled_any = false;
  for (const Lever& lever : kLevers) {
    if (std::none_of(changed.begin(), changed.end(), lever.pulled)) continue;
    pulled_any = true;
    const double share = std::clamp(shares.*lever.share, 0.0, 0.99);
    const std::string text =
        fmt::format("{}: {:.0f} % of the time is in {}", lever.name, 100 * share, lever.where);
    if (shares.known && share < lever.least_share) {
      made.too_small += (made.too_small.empty() ? "" : "; ") + text;
      continue;
    }
    made.expected_log += lever.chance * amdahl_log(share, lever.speedup);
    made.why += (made.why.empty() ? "" : "; ") +
                (shares.known ? text : std::string(lever.name) + ": no profile");
  }
  if (pulled_any) return made;
  // No lever that we know: the pack's own word on what the variant is good for.
  for (const Direction direction : recipe.directions) {
    const double share = direction == Direction::Communication ? shares.barrier
                         : direction == Direction::Host        ? shares.host
                                                               : shares.kernel;
    made.expected_log =
        std::max(made.expected_log, 0.2 * amdahl_log(std::clamp(share, 0.0, 0.99), 1.05));
    made.why = fmt::format("the pack counts it to direction {}", name_of(direction));
  }
  if (made.why.empty()) made.why = "a variant of the pack";
  return made;
}

}  // namespace

ForgeOrder order_builds(const ForgeView& view) {
  const Shares shares = shares_of(view.kernels);
  ForgeOrder order;
  for (const BuildRecipe& recipe : view.recipes) {
    const auto drop = [&](const std::string& reason) {
      order.dropped.push_back(recipe.id + ": " + reason);
    };
    if (recipe.id == view.current.id) {
      drop("runs already");
    } else if (std::find(view.failed.begin(), view.failed.end(), recipe.id) != view.failed.end()) {
      drop("is known not to work here");
    } else if (const std::string missing = missing_tool(recipe, view.toolchain); !missing.empty()) {
      drop(missing);
    } else if (!view.current.id.empty() && changed_settings(recipe, view.current).empty()) {
      drop("sets nothing that the current build does not");
    } else if (const Estimate made = estimate(recipe, view.current, shares); made.why.empty()) {
      drop(made.too_small);
    } else {
      order.offers.push_back({recipe.id, made.expected_log, made.why});
    }
  }
  // Expected gain per build time: another compiler compiles everything anew, a flag of one library does not.
  std::vector<std::string> whole;
  for (const BuildRecipe& recipe : view.recipes)
    if (compilers_of(recipe) != compilers_of(view.current)) whole.push_back(recipe.id);
  const auto worth = [&](const BuildOffer& offer) {
    const bool all = std::find(whole.begin(), whole.end(), offer.recipe) != whole.end();
    return offer.expected_log / (all ? kWholeBuild : 1);
  };
  std::stable_sort(order.offers.begin(), order.offers.end(),
                   [&](const BuildOffer& a, const BuildOffer& b) { return worth(a) > worth(b); });
  return order;
}

}  // namespace hyperloom
