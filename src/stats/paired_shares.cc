#include "stats/paired_shares.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "stats/sequential.h"

namespace hyperloom {
namespace {

constexpr std::array<double, 4> kBets = {0.1, 0.3, 0.6, 0.9};   // small bets for small drops, large for large
constexpr double kSpend = 1.2;         // calibrates the looks' union bound: they are correlated
constexpr double kPseudoDiscordant = 2;   // no discordant item in n is no proof that there are none

void check(const std::vector<int>& items, const ShareTest& test) {
  if (!(test.margin > 0)) throw internal_error("a share test needs a margin above 0");
  if (!std::is_sorted(test.looks.begin(), test.looks.end()) || (!test.looks.empty() && test.looks.front() < 1))
    throw internal_error("the looks of a share test must ascend from 1");
  if (std::any_of(items.begin(), items.end(), [](int x) { return x < -1 || x > 1; }))
    throw internal_error("an item of a share test is -1, 0 or 1");
}

// Normal approximation with two discordant items added; each look spends alpha by its share of all looked-at items.
void look_for_pass(ShareLook& look, const ShareTest& test) {
  const double n = look.n;
  const double variance = (look.lost + look.won + kPseudoDiscordant) / n - look.drop * look.drop;
  const double z = (test.margin - look.drop) / std::sqrt(variance / n);
  look.p = normal_cdf(-z);
  look.bound = kSpend * test.alpha * n / std::accumulate(test.looks.begin(), test.looks.end(), 0.0);
  if (look.p <= look.bound) look.verdict = ShareVerdict::Held;
}

}  // namespace

const char* name_of(ShareVerdict verdict) {
  switch (verdict) {
    case ShareVerdict::Continue:
      return "continue";
    case ShareVerdict::Held:
      return "held";
    case ShareVerdict::Worse:
      return "worse";
    case ShareVerdict::Unproven:
      return "unproven";
  }
  return "continue";
}

std::vector<int> share_looks(int items) {
  std::vector<int> looks;
  for (int part : {8, 4, 2, 1})
    if (const int n = items / part; n > 0 && (looks.empty() || n > looks.back())) looks.push_back(n);
  return looks;
}

ShareLook judge_shares(const std::vector<int>& items, const ShareTest& test) {
  check(items, test);
  ShareLook look;
  std::array<double, kBets.size()> wealth;
  wealth.fill(1);
  for (int x : items) {
    look.n++;
    look.lost += x > 0;
    look.won += x < 0;
    look.drop = static_cast<double>(look.lost - look.won) / look.n;
    for (size_t i = 0; i < kBets.size(); i++) wealth[i] *= 1 + kBets[i] * x;
    look.e_value = std::accumulate(wealth.begin(), wealth.end(), 0.0) / wealth.size();
    if (look.e_value >= test.kill) look.verdict = ShareVerdict::Worse;
    else if (std::binary_search(test.looks.begin(), test.looks.end(), look.n)) look_for_pass(look, test);
    if (look.verdict != ShareVerdict::Continue) return look;
  }
  if (!test.looks.empty() && look.n >= test.looks.back()) look.verdict = ShareVerdict::Unproven;
  return look;
}

}  // namespace hyperloom
