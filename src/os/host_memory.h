// What earlier legs taught of this host: how busy its neighbours usually are. A cache, rebuilt by
// measuring again; what a session took from it stands in its journal.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "os/pollution.h"

namespace hyperloom {

// What one leg of the stock configuration saw, void or not.
struct HostLeg {
  double foreign_cpu = 0, foreign_cpu_peak = 0, steal = 0;
};
HostLeg host_leg(const Neighbours& n);

// Differences (log ratios) of A/A pairs that `doctor --noise` measured.
struct EarlierNoise {
  int requests = 0;  // of a leg
  std::vector<double> values;
  // For legs of `requests_now`: sd grows with the root of the requests where today's legs are
  // shorter, and is never taken for smaller where they are longer.
  std::vector<double> scaled_to(int requests_now) const;
};
void to_json(Json& json, const EarlierNoise& n);
void from_json(const Json& json, EarlierNoise& n);

struct LearnedLimits {
  NeighbourLimits limits;
  int legs = 0;  // that they were learned from; 0 = the defaults
};
void to_json(Json& json, const LearnedLimits& l);
void from_json(const Json& json, LearnedLimits& l);

inline constexpr int kLeastHostLegs = 12;
inline constexpr size_t kMostHostLegs = 120;

// Per figure: median + 4 robust standard deviations (1.4826 MAD) of the legs, but within half and
// twice the default. Legs beyond twice a default are no host's normal: they are left out, and with
// fewer than kLeastHostLegs others, or fewer than half of all, the defaults hold. Swapping, heat and
// strangers on a GPU are never normal.
LearnedLimits learned_limits(const std::vector<HostLeg>& legs, const NeighbourLimits& defaults = {});

// "others above 0.10 cores on average, ... (learned from 20 legs of this host)".
std::string limits_text(const LearnedLimits& l);

// This machine among those that share a cache folder: 12 hex of its hardware's id and its name.
std::string host_id(const std::string& machine_id);

// `folder`/<host id>.json. Reads nothing where the file is missing or damaged: it is a cache.
class HostMemory {
 public:
  HostMemory(const std::filesystem::path& folder, const std::string& host);
  const std::vector<HostLeg>& legs() const { return legs_; }
  // Keeps the latest kMostHostLegs. Reads the file again first, so that two sessions of one machine
  // lose little of each other; a disk that cannot be written to costs the memory, not the session.
  void remember(const HostLeg& leg);
  // By what was measured (model, engine, traffic): kMostNoises of them.
  std::optional<EarlierNoise> noise(const std::string& key) const;
  void remember_noise(const std::string& key, const EarlierNoise& noise);
  static constexpr size_t kMostNoises = 50;

 private:
  void read();
  void write() const;
  const std::filesystem::path file_;
  std::vector<HostLeg> legs_;
  std::map<std::string, EarlierNoise> noises_;
};

}  // namespace hyperloom
