#include "load/rate_search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/error.h"

namespace hyperloom {
namespace {

constexpr double kLowest = 1.0 / 16;     // of the start; one request at a time is about as little
constexpr double kLeap = 2;              // while nothing has missed
constexpr double kBets[] = {0.7, 1};     // of the wealth, on "as before": 8 runs alike in a row prove the first rate
constexpr int kMostAgainst = 2, kMostAtOneRate = 16;
constexpr int kAway[] = {1, 3, 7, 15};      // steps from the bracket, after so many rates given up

int steps_in(double ratio, double resolution) {
  return static_cast<int>(std::floor(std::log(ratio) / std::log1p(resolution) + 1e-9));
}

}  // namespace

const char* name_of(RateEnd end) {
  switch (end) {
    case RateEnd::Searching: return "searching";
    case RateEnd::Found: return "found";
    case RateEnd::NoRate: return "no_rate";
    case RateEnd::Unlimited: return "unlimited";
    case RateEnd::Unresolved: return "unresolved";
  }
  return "?";
}

// Where the chance is 1/2 or less, the wealth of a gambler who bets on it is no more than 1 on average, and ever reaches
// `needed` with probability 1 / needed at most (Ville).
double RateSearch::Proof::e_value() const {
  double wealth = 0;
  for (const double bet : kBets) wealth += std::pow(1 + bet, with) * std::pow(1 - bet, against);
  return wealth / std::size(kBets);
}

bool RateSearch::Proof::hopeless() const { return against >= kMostAgainst || with + against >= kMostAtOneRate; }

RateSearch::RateSearch(const RateSearchPlan& plan) : plan_(plan) {
  const auto share = [](double x) { return x > 0 && x < 1; };
  const bool sane = plan.start_rps > 0 && std::isfinite(plan.start_rps) && share(plan.alpha) && share(plan.resolution);
  if (!sane || plan.most_runs < 1)
    throw internal_error("a rate search needs a start above 0, alpha and resolution in 0..1, and a run");
  floor_ = -steps_in(1 / kLowest, plan.resolution) - 1;
  ceiling_ = std::max(0, steps_in(std::max(plan.most_rps, plan.start_rps) / plan.start_rps, plan.resolution));
  next_ = choose();
}

double RateSearch::rate_at(int place) const {
  return place == floor_ ? 0 : plan_.start_rps * std::pow(1 + plan_.resolution, place);
}

std::optional<double> RateSearch::next() const { return next_ ? std::optional(rate_at(*next_)) : std::nullopt; }

// The border between two places that the fewest runs contradict; of borders that tie, all that lies between them is open.
RateSearch::Bracket RateSearch::bracket() const {
  Bracket found;
  int sum = 0, best = 0;
  bool at_border = true;
  for (const auto& [place, balance] : balance_) {
    if (at_border) found.misses = place;
    sum += balance;
    at_border = sum >= best;
    if (sum > best) found.meets = place;
    if (at_border) best = sum, found.misses.reset();
  }
  return found;
}

// A run at the side's open proof, or of a new one: a step away from `from`, and further after rates that were given up as
// mixed; at the end of all rates at `from` itself. Each new proof has half of the error that those before it have left.
// Nothing: proven close by, or all given up.
std::optional<int> RateSearch::prove(Side& side, int from) {
  const bool at_end = from == (side.towards < 0 ? ceiling_ : floor_);
  proving_ = &side;
  if (!side.proofs.empty() && !side.proofs.back().closed && side.proofs.back().hopeless()) {
    side.proofs.back().closed = true;
    ++side.given_up;
  }
  if (side.given_up < std::size(kAway)) {
    const int away = at_end ? 0 : kAway[side.given_up], near = std::max(1, away);
    const int place = std::clamp(from + side.towards * away, floor_, ceiling_);
    const bool done = side.proven && (*side.proven - from) * side.towards <= near;
    if (!done && !side.proofs.empty() && !side.proofs.back().closed && std::abs(side.proofs.back().place - place) <= near)
      return side.proofs.back().place;
    if (!done) {
      const double spent = std::pow(0.5, static_cast<double>(side.proofs.size()) + 1);
      side.proofs.push_back({place, 1 / (0.5 * plan_.alpha * spent)});
      return place;
    }
  }
  proving_ = nullptr;
  return std::nullopt;
}

std::optional<int> RateSearch::choose() {
  proving_ = nullptr;
  if (balance_.empty()) return floor_;
  const Bracket at = bracket();
  if (!at.meets) return prove(upper_, floor_);
  if (!at.misses) {
    if (*at.meets == ceiling_) return prove(lower_, ceiling_);
    return *at.meets == floor_ ? 0 : std::min(ceiling_, *at.meets + std::max(1, steps_in(kLeap, plan_.resolution)));
  }
  if (*at.misses - *at.meets > 1) return *at.meets + (*at.misses - *at.meets) / 2;
  if (const auto place = prove(lower_, *at.meets)) return place;
  return prove(upper_, *at.misses);
}

void RateSearch::count(Side& side, bool with) {
  Proof& proof = side.proofs.back();
  ++(with ? proof.with : proof.against);
  if (proof.e_value() < proof.needed) return;
  proof.closed = true;
  if (!side.proven || (proof.place - *side.proven) * side.towards < 0) side.proven = proof.place;
}

void RateSearch::add(bool met) {
  if (!next_) throw internal_error("a run of a rate search that has ended");
  ++runs_;
  balance_[*next_] += met ? 1 : -1;
  if (proving_) count(*proving_, met == (proving_ == &lower_));
  next_ = runs_ < plan_.most_runs ? choose() : std::nullopt;
  if (!next_) end_ = judge();
}

RateEnd RateSearch::judge() const {
  if (upper_.proven == floor_) return RateEnd::NoRate;
  if (lower_.proven == ceiling_) return RateEnd::Unlimited;
  return lower_.proven && upper_.proven && *lower_.proven < *upper_.proven ? RateEnd::Found : RateEnd::Unresolved;
}

RateAnswer RateSearch::answer() const {
  RateAnswer answer{.end = end_};
  if (lower_.proven) answer.meets = rate_at(*lower_.proven);
  if (upper_.proven) answer.misses = rate_at(*upper_.proven);
  const Bracket at = bracket();
  if (at.meets) answer.estimate = at.misses ? std::sqrt(rate_at(*at.meets) * rate_at(*at.misses)) : rate_at(*at.meets);
  return answer;
}

}  // namespace hyperloom
