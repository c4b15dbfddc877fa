#include "measure/leg_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text.h"

namespace hyperloom {
namespace {

constexpr const char* kProcessStart = "process_start_time_seconds";
constexpr double kLeastPatienceS = 10, kPatience = 4;   // of the answers' own p99
constexpr double kLeastStallMs = 50;
constexpr double kMostStallShare = 0.01;     // of the window

std::string first_failure(const std::vector<RequestRecord>& records) {
  for (const RequestRecord& r : records) {
    if (r.state != RequestState::Failed) continue;
    const std::string text = trim(r.fail_text).substr(0, 200);
    return fmt::format("; first: {}{}", r.fail_kind, text.empty() ? "" : ": " + text);
  }
  return "";
}

// Cut off at the end of the load, but far beyond what an answer takes here: the server hangs on them.
int never_answered(const LoadResult& load) {
  if (load.summary.completed == 0) return 0;
  const double patience_s = std::max(kLeastPatienceS, kPatience * 1e-3 * load.summary.e2e_ms.p99);
  return static_cast<int>(std::count_if(load.records.begin(), load.records.end(), [&](const RequestRecord& r) {
    return r.state == RequestState::CutOff && r.sent_s > 0 && r.end_s - r.sent_s > patience_s;
  }));
}

}  // namespace

std::optional<Failure> load_failure(const LoadResult& load, const Traffic& traffic, double value) {
  const LoadSummary& s = load.summary;
  int missing = 0;   // asked for a fixed number of tokens, answered with none
  for (const RequestRecord& r : load.records) {
    missing += traffic.ignore_eos && r.state == RequestState::Completed && r.tokens() == 0 &&
               r.end_s >= load.window_start_s;
  }
  const int stalled = never_answered(load);
  const int ended = s.completed + s.failed + s.timed_out + stalled;
  const int bad = s.failed + s.timed_out + missing + stalled;
  if (bad > kMostFailed * ended) {
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : s.fail_kinds) kinds.push_back(fmt::format("{} {}", count, kind));
    if (missing > 0) kinds.push_back(fmt::format("{} empty_answer", missing));
    if (stalled > 0) kinds.push_back(fmt::format("{} never_answered", stalled));
    return Failure{"failed_requests", "failed_requests",
                   fmt::format("{} of {} requests failed under load, at most {:.0f} % may ({}){}", bad, ended,
                               100 * kMostFailed, join(kinds, ", "), first_failure(load.records)),
                   "flags", "read the engine's log of this leg; lower the load or give it more memory"};
  }
  if (ended == 0 || value <= 0) {
    return Failure{"no_answers", "no_answers",
                   fmt::format("{} requests completed and {} were cut off in {:.1f} s: nothing to measure",
                               s.completed, s.cut_off, s.window_s),
                   "flags", "raise the time limit of a leg or shorten the answers"};
  }
  return std::nullopt;
}

bool lost_our_port(const Failure& failure, const LaunchSpec& launch, bool ran_before) {
  const bool chosen = std::any_of(launch.argv.begin(), launch.argv.end(), [](const std::string& a) { return a.find("${port}") != std::string::npos; });
  return (chosen || ran_before) && (failure.failure_class == "port_in_use" || failure.failure_class == "foreign_server");
}

double most_loop_delay_ms(double window_s) { return std::max(kLeastStallMs, 1e3 * kMostStallShare * window_s); }

std::vector<std::string> void_reasons(const LoadResult& load, const Neighbours& neighbours,
                                      const NeighbourLimits& limits) {
  std::vector<std::string> reasons = pollution(neighbours, limits);
  const LoadSummary& s = load.summary;
  if (load.stopped) reasons.push_back("stopped: we were told to stop before the load had ended");
  const double most = most_loop_delay_ms(s.window_s);
  if (load.loop_delay_ms > most)
    reasons.push_back(fmt::format("our own lateness: the load client stood still for {:.0f} ms, limit {:.0f} ms",
                                  load.loop_delay_ms, most));
  if (s.send_lateness_ms.p99 > kLeastStallMs)
    reasons.push_back(fmt::format("our own lateness: requests left {:.0f} ms late (p99), limit {:.0f} ms",
                                  s.send_lateness_ms.p99, kLeastStallMs));
  return reasons;
}

std::map<std::string, double> counter_differences(const std::map<std::string, double>& before,
                                                  const std::map<std::string, double>& after) {
  std::map<std::string, double> differences;
  const auto began = before.find(kProcessStart), begins = after.find(kProcessStart);
  if (began != before.end() && begins != after.end() && began->second != begins->second) return differences;
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (name != kProcessStart && earlier != before.end() && value >= earlier->second) differences[name] = value - earlier->second;
  }
  return differences;
}

std::string answers_sha256(const std::vector<RequestRecord>& records) {
  std::vector<const RequestRecord*> answers;
  for (const RequestRecord& r : records)
    if (r.state == RequestState::Completed) answers.push_back(&r);
  std::sort(answers.begin(), answers.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  std::string bytes;
  for (const RequestRecord* r : answers)
    bytes += fmt::format("{}:{}:{}:", r->id, r->reasoning.size(), r->text.size()) + r->reasoning + r->text;
  return sha256_hex(bytes);
}

}  // namespace hyperloom
