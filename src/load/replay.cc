#include "load/replay.h"

#include <algorithm>
#include <set>

#include "load/random.h"
#include "workload/trace_file.h"

namespace hyperloom {
namespace {

uint64_t mixed(uint64_t a, uint64_t b) { return Random(a ^ Random(b).next()).next(); }

class Replay {
 public:
  Replay(uint64_t round_seed, double tokens_per_word) : seed_(round_seed), tokens_per_word_(tokens_per_word) {}

  PlannedRequest request(const TraceEntry& entry, size_t place) {
    PlannedRequest request;
    request.max_tokens = entry.output_tokens;
    request.prompt_tokens = entry.prompt_tokens;
    int left = entry.prompt_tokens, seen = 0;
    bool all_seen = true;   // a cache holds a prefix: what follows the first new block is new to it
    for (const uint64_t id : entry.hash_ids) {
      const int tokens = std::min(left, kTraceBlockTokens);
      all_seen &= !sent_.insert(id).second;
      if (all_seen) seen += tokens;
      request.blocks.push_back(block(2 * id, tokens));
      left -= tokens;
    }
    if (left > 0) request.blocks.push_back(block(2 * place + 1, left));
    request.shared = static_cast<double>(seen) / entry.prompt_tokens;
    return request;
  }

 private:
  TextBlock block(uint64_t name, int tokens) const { return {mixed(seed_, name), words_for(tokens, tokens_per_word_)}; }

  uint64_t seed_;
  double tokens_per_word_;
  std::set<uint64_t> sent_;
};

}  // namespace

void append_replay(const Traffic& traffic, uint64_t seed, int count, double tokens_per_word, RequestTrace& trace) {
  const std::vector<TraceEntry> entries = read_trace_file(traffic.trace, traffic.trace_sha256, static_cast<size_t>(count));
  const double span_s = entries.back().at_s;
  const double round_s = entries.size() > 1 ? span_s + span_s / static_cast<double>(entries.size() - 1) : 0;
  for (uint64_t round = 0; trace.requests.size() < static_cast<size_t>(count); ++round) {
    Replay replay(mixed(seed, round), tokens_per_word);
    for (size_t i = 0; i < entries.size() && trace.requests.size() < static_cast<size_t>(count); ++i) {
      trace.requests.push_back(replay.request(entries[i], i));
      trace.requests.back().at_s = (static_cast<double>(round) * round_s + entries[i].at_s) / traffic.trace_speed;
    }
  }
}

}  // namespace hyperloom
