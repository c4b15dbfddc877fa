// The highest request rate that still meets the latency limits, from runs of which each has only met them or not.
// The capacity is the rate above which a run misses more often than it meets; the one assumption is that more requests a
// second never help. Pure: it names the rate of the next run and is told how that ended. docs/measurement-rates.md
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace hyperloom {

struct RateSearchPlan {
  double start_rps = 1;                  // the first rate
  double resolution = 0.05;              // rates lie a step of so much apart: 0.05 = 5 %
  double alpha = 0.05;                   // chance that the capacity lies outside [meets, misses], half of it for each end
  int most_runs = 60;
  double most_rps = 1e5;                 // what the client can send
};

enum class RateEnd { Searching, Found, NoRate, Unlimited, Unresolved };
const char* name_of(RateEnd end);        // "searching", "found", "no_rate", "unlimited", "unresolved"

// [meets, misses] holds the capacity with probability 1 - alpha at least, after whatever run one looks.
// Found: both ends. NoRate: proven to miss at rate 0. Unlimited: proven to meet at most_rps. Unresolved: the runs are used
// up, or runs at the same rate end so differently that an end cannot be proven.
struct RateAnswer {
  RateEnd end = RateEnd::Searching;
  std::optional<double> meets, misses;   // a run there meets (misses) more often than not; absent = proven of no rate
  double estimate = 0;                   // the rate that most runs speak for; 0 = none above 0
};

// Bisection over rates by what most runs say, then proofs at both ends of the bracket that is left.
class RateSearch {
 public:
  // Error(Internal): a plan that cannot be carried out (no rate above 0, alpha or resolution outside 0..1, no run).
  explicit RateSearch(const RateSearchPlan& plan);
  // Requests a second of the next run, 0 = one request at a time (the least load there is); nothing: ended.
  std::optional<double> next() const;
  void add(bool met);                    // how the run at next() ended
  RateAnswer answer() const;
  int runs() const { return runs_; }
  bool proving() const { return proving_ != nullptr; }   // the next run is one of a proof

 private:
  // Evidence that runs at one rate end alike more often than not, from the runs since it was chosen.
  struct Proof {
    int place = 0;
    double needed = 0;                   // the e-value that proves it
    int with = 0, against = 0;
    bool closed = false;                 // proven, or given up
    double e_value() const;
    bool hopeless() const;
  };
  struct Side {
    int towards = 0;                     // away from the bracket: -1 down, +1 up
    std::vector<Proof> proofs;           // the last may be open
    std::optional<int> proven;           // the closest
    size_t given_up = 0;
  };
  struct Bracket { std::optional<int> meets, misses; };   // places

  double rate_at(int place) const;
  Bracket bracket() const;
  std::optional<int> choose();           // where to run next; sets proving_
  std::optional<int> prove(Side& side, int from);
  void count(Side& side, bool with);
  RateEnd judge() const;

  RateSearchPlan plan_;
  int floor_, ceiling_;                  // places, each a step above the one before; the floor is rate 0
  std::map<int, int> balance_;           // by place: runs that met minus runs that missed
  Side lower_{.towards = -1}, upper_{.towards = +1};
  Side* proving_ = nullptr;
  std::optional<int> next_;
  RateEnd end_ = RateEnd::Searching;
  int runs_ = 0;
};

}  // namespace hyperloom
