#include "load/request_trace.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/hash.h"
#include "load/arrivals.h"
#include "load/dataset.h"
#include "load/random.h"
#include "load/replay.h"

namespace hyperloom {

namespace {

// Log-normal by mean and coefficient of variation, at least 1.
int draw_length(const Spread& spread, Random& random) {
  if (spread.cv <= 0) return std::max(1, static_cast<int>(std::lround(spread.mean)));
  const double variance = std::log1p(spread.cv * spread.cv);
  const double mu = std::log(spread.mean) - variance / 2;
  const double value = std::exp(mu + std::sqrt(variance) * random.normal());
  return std::max(1, static_cast<int>(std::lround(std::min(value, 1e7))));
}

void make_synthetic(const Traffic& traffic, uint64_t seed, int count, double tokens_per_word,
                    RequestTrace& trace) {
  if (traffic.prompt_tokens.mean <= 0) {
    throw bad_input("traffic.prompt_tokens has no mean", "state prompt_tokens: {mean: 256}, or a dataset");
  }
  // A system prompt is the same in every leg: from the workload's seed, not from the trace's.
  std::string prefix;
  if (traffic.shared_prefix_tokens > 0) {
    Random random(traffic.seed);
    append_text(prefix, words_for(traffic.shared_prefix_tokens, tokens_per_word), random.below(vocabulary_size()), random);
  }
  Random random(seed);
  std::vector<size_t> firsts(vocabulary_size());
  std::iota(firsts.begin(), firsts.end(), size_t{0});
  random.shuffle(firsts);
  for (int i = 0; i < count; ++i) {
    PlannedRequest request;
    const int tokens = draw_length(traffic.prompt_tokens, random);
    request.prompt = prefix;
    append_text(request.prompt, words_for(tokens - traffic.shared_prefix_tokens, tokens_per_word),
                firsts[static_cast<size_t>(i) % firsts.size()], random);
    request.prompt_tokens = std::max(tokens, traffic.shared_prefix_tokens + 1);
    if (i > 0) request.shared = static_cast<double>(traffic.shared_prefix_tokens) / request.prompt_tokens;
    trace.requests.push_back(std::move(request));
  }
}

void make_from_dataset(const Traffic& traffic, uint64_t seed, int count, RequestTrace& trace) {
  std::vector<DatasetPrompt> prompts = sample_dataset(traffic.dataset, seed, count);
  Random random(seed ^ 0x5eed);
  for (int i = 0; i < count; ++i) {
    const size_t place = static_cast<size_t>(i) % prompts.size();
    if (i > 0 && place == 0) random.shuffle(prompts);   // a short file goes round again in another order
    trace.requests.push_back({prompts[place].prompt, prompts[place].output_tokens, 0});
  }
}

void set_output_lengths(const Traffic& traffic, uint64_t seed, RequestTrace& trace) {
  Random random(seed ^ 0x00719);
  for (PlannedRequest& request : trace.requests) {
    if (traffic.output_tokens.mean > 0) {
      request.max_tokens = draw_length(traffic.output_tokens, random);
    } else if (request.max_tokens <= 0) {
      throw bad_input("traffic.output_tokens has no mean, and the dataset gives no answer lengths",
                      "state output_tokens: {mean: 128} (--output-tokens 128)");
    }
  }
}

void set_arrivals(const Traffic& traffic, uint64_t seed, RequestTrace& trace) {
  const std::vector<double> times = arrival_times(traffic, seed, trace.requests.size());
  for (size_t i = 0; i < times.size(); ++i) trace.requests[i].at_s = times[i];
}

std::string hash_of(const RequestTrace& trace) {
  std::string bytes;
  for (const PlannedRequest& request : trace.requests) {
    bytes += std::to_string(request.max_tokens) + " " +
             std::to_string(std::llround(request.at_s * 1e6)) + " " +
             std::to_string(request.prompt.size()) + "\n" + request.prompt + "\n";
    for (const TextBlock& block : request.blocks) bytes += std::to_string(block.seed) + " " + std::to_string(block.words) + "\n";
  }
  return sha256_hex(bytes);
}

}  // namespace

std::string prompt_text(const PlannedRequest& request) {
  std::string text = request.prompt;
  for (const TextBlock& block : request.blocks) append_text(text, block);
  return text;
}

RequestTrace make_trace(const Traffic& traffic, uint64_t seed, int count, double tokens_per_word) {
  if (count < 1) throw bad_input("a trace of " + std::to_string(count) + " requests", "ask for at least 1");
  if (!(tokens_per_word > 0)) tokens_per_word = kDefaultTokensPerWord;
  RequestTrace trace;
  trace.requests.reserve(static_cast<size_t>(count));
  if (traffic.kind == Traffic::Kind::Trace) {
    append_replay(traffic, seed, count, tokens_per_word, trace);
    trace.sha256 = hash_of(trace);
    return trace;
  }
  if (traffic.dataset.empty()) make_synthetic(traffic, seed, count, tokens_per_word, trace);
  else make_from_dataset(traffic, seed, count, trace);
  set_output_lengths(traffic, seed, trace);
  if (traffic.kind != Traffic::Kind::Closed) set_arrivals(traffic, seed, trace);
  trace.sha256 = hash_of(trace);
  return trace;
}

}  // namespace hyperloom
