#include "os/host_memory.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"

namespace hyperloom {
namespace {

constexpr double kSigmas = 4, kMadToSd = 1.4826;
constexpr double kTightest = 0.5, kLoosest = 2;  // times the default

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double learned(const std::vector<double>& values, double default_limit) {
  const double usual = middle(values);
  std::vector<double> away;
  for (const double value : values) away.push_back(std::fabs(value - usual));
  return std::clamp(usual + kSigmas * kMadToSd * middle(away), kTightest * default_limit,
                    kLoosest * default_limit);
}

bool plausible(const HostLeg& leg) {
  return leg.foreign_cpu >= 0 && leg.foreign_cpu_peak >= 0 && leg.steal >= 0;  // no NaN either
}

}  // namespace

HostLeg host_leg(const Neighbours& n) { return {n.foreign_cpu, n.foreign_cpu_peak, n.steal}; }

LearnedLimits learned_limits(const std::vector<HostLeg>& legs, const NeighbourLimits& defaults) {
  LearnedLimits result{defaults, 0};
  std::vector<double> foreign, peak, steal;
  for (const HostLeg& leg : legs) {
    if (leg.foreign_cpu > kLoosest * defaults.foreign_cpu ||
        leg.foreign_cpu_peak > kLoosest * defaults.foreign_cpu_peak ||
        leg.steal > kLoosest * defaults.steal)
      continue;
    foreign.push_back(leg.foreign_cpu);
    peak.push_back(leg.foreign_cpu_peak);
    steal.push_back(leg.steal);
  }
  if (foreign.size() < kLeastHostLegs || 2 * foreign.size() < legs.size()) return result;
  result.legs = static_cast<int>(foreign.size());
  result.limits.foreign_cpu = learned(foreign, defaults.foreign_cpu);
  result.limits.foreign_cpu_peak = learned(peak, defaults.foreign_cpu_peak);
  result.limits.steal = learned(steal, defaults.steal);
  return result;
}

std::vector<double> EarlierNoise::scaled_to(int requests_now) const {
  std::vector<double> scaled = values;
  if (requests_now > 0 && requests > requests_now)
    for (double& value : scaled) value *= std::sqrt(static_cast<double>(requests) / requests_now);
  return scaled;
}

void to_json(Json& json, const EarlierNoise& n) {
  json = {{"requests", n.requests}, {"values", n.values}};
}

void from_json(const Json& json, EarlierNoise& n) {
  json.at("requests").get_to(n.requests);
  json.at("values").get_to(n.values);
}

void to_json(Json& json, const LearnedLimits& l) {
  json = {{"foreign_cpu", l.limits.foreign_cpu},
          {"foreign_cpu_peak", l.limits.foreign_cpu_peak},
          {"steal", l.limits.steal},
          {"swap_mib", l.limits.swap_mib},
          {"throttles", l.limits.throttles},
          {"gpu_slowed", l.limits.gpu_slowed},
          {"legs", l.legs}};
}

void from_json(const Json& json, LearnedLimits& l) {
  json.at("foreign_cpu").get_to(l.limits.foreign_cpu);
  json.at("foreign_cpu_peak").get_to(l.limits.foreign_cpu_peak);
  json.at("steal").get_to(l.limits.steal);
  json.at("swap_mib").get_to(l.limits.swap_mib);
  json.at("throttles").get_to(l.limits.throttles);
  json.at("gpu_slowed").get_to(l.limits.gpu_slowed);
  json.at("legs").get_to(l.legs);
}

std::string limits_text(const LearnedLimits& l) {
  return fmt::format(
      "others above {:.2f} cores on average or {:.2f} in a second, steal above {:.3f} cores, swapping, "
      "heat, strangers on its GPU ({})",
      l.limits.foreign_cpu, l.limits.foreign_cpu_peak, l.limits.steal,
      l.legs > 0 ? fmt::format("learned from {} legs of this host", l.legs)
                 : std::string("defaults: this host has taught too little yet"));
}

std::string host_id(const std::string& machine_id) {
  utsname name{};
  ::uname(&name);
  return sha256_hex(machine_id + "\n" + name.nodename).substr(0, 12);
}

HostMemory::HostMemory(const fs::path& folder, const std::string& host)
    : file_(folder / (host + ".json")) {
  read();
}

std::optional<EarlierNoise> HostMemory::noise(const std::string& key) const {
  const auto found = noises_.find(key);
  return found == noises_.end() ? std::nullopt : std::optional(found->second);
}

void HostMemory::remember_noise(const std::string& key, const EarlierNoise& noise) {
  read();
  noises_[key] = noise;
  while (noises_.size() > kMostNoises)
    noises_.erase(noises_.begin()->first == key ? std::next(noises_.begin()) : noises_.begin());
  write();
}

void HostMemory::read() {
  legs_.clear();
  noises_.clear();
  std::error_code error;
  if (!fs::exists(file_, error)) return;
  try {
    const Json json = Json::parse(read_file(file_));
    for (const Json& line : json.at("legs")) {
      const HostLeg leg{line.at(0), line.at(1), line.at(2)};
      if (plausible(leg)) legs_.push_back(leg);
    }
    if (json.contains("noise")) json.at("noise").get_to(noises_);
  } catch (const std::exception&) {  // damaged, or of another version
    legs_.clear();
    noises_.clear();
  }
}

void HostMemory::remember(const HostLeg& leg) {
  if (!plausible(leg)) return;
  read();
  legs_.push_back(leg);
  if (legs_.size() > kMostHostLegs)
    legs_.erase(legs_.begin(), legs_.end() - static_cast<long>(kMostHostLegs));
  write();
}

void HostMemory::write() const {
  Json json = {{"schema", 1}, {"legs", Json::array()}, {"noise", noises_}};
  for (const HostLeg& one : legs_)
    json["legs"].push_back({one.foreign_cpu, one.foreign_cpu_peak, one.steal});
  try {
    make_folders(file_.parent_path());
    write_file(file_, json.dump() + "\n");
  } catch (const Error&) {
  }
}

}  // namespace hyperloom
