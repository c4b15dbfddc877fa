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

// By mean and coefficient of variation.
double draw_log_normal(const Spread& spread, Random& random) {
  if (spread.cv <= 0 || spread.mean <= 0) return spread.mean;
  const double variance = std::log1p(spread.cv * spread.cv);
  const double mu = std::log(spread.mean) - variance / 2;
  return std::exp(mu + std::sqrt(variance) * random.normal());
}

int draw_length(const Spread& spread, Random& random) {
  return std::max(1, static_cast<int>(std::lround(std::min(draw_log_normal(spread, random), 1e7))));
}

// Which of `count` requests go on with the conversation of the one above, and after how long.
struct Turns {
  std::vector<bool> follows;
  std::vector<double> think_s;
};

Turns draw_turns(const Traffic& traffic, uint64_t seed, size_t count) {
  Turns turns{std::vector<bool>(count, false), std::vector<double>(count, 0)};
  if (traffic.turns.mean <= 0) return turns;
  Random random(seed ^ 0x7a1c);
  for (size_t at = 0; at < count;) {
    const size_t end = std::min(count, at + static_cast<size_t>(draw_length(traffic.turns, random)));
    while (++at < end) {
      turns.follows[at] = true;
      turns.think_s[at] = draw_log_normal(traffic.think_s, random);
    }
  }
  return turns;
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
  const Turns turns = draw_turns(traffic, seed, static_cast<size_t>(count));
  Random random(seed);
  std::vector<size_t> firsts(vocabulary_size());
  std::iota(firsts.begin(), firsts.end(), size_t{0});
  random.shuffle(firsts);
  for (int i = 0; i < count; ++i) {
    PlannedRequest request;
    const int tokens = draw_length(traffic.prompt_tokens, random);
    const bool follows = turns.follows[static_cast<size_t>(i)];
    const int of_prefix = follows ? 0 : traffic.shared_prefix_tokens;
    if (!follows) request.prompt = prefix;
    append_text(request.prompt, words_for(tokens - of_prefix, tokens_per_word),
                firsts[static_cast<size_t>(i) % firsts.size()], random);
    request.prompt_tokens = std::max(tokens, of_prefix + 1);
    if (i > 0) request.shared = static_cast<double>(of_prefix) / request.prompt_tokens;
    request.follows = follows;
    request.think_s = turns.think_s[static_cast<size_t>(i)];
    trace.requests.push_back(std::move(request));
  }
}

// Human turns that are kept of a recorded conversation: all but the rarest of those that will be asked.
int most_turns(const Traffic& traffic) {
  return traffic.turns.mean > 0 ? static_cast<int>(std::ceil(traffic.turns.mean * (1 + 3 * traffic.turns.cv))) : 1;
}

// Turns follow the recorded conversation, and end where it does; of a file without conversations they are its next prompts.
void make_from_dataset(const Traffic& traffic, uint64_t seed, int count, RequestTrace& trace) {
  DatasetSample sample = sample_dataset(traffic.dataset, seed, count, most_turns(traffic));
  if (!sample.notice.empty()) trace.notices.push_back(sample.notice);
  std::vector<DatasetPrompt>& prompts = sample.prompts;
  const bool recorded = std::any_of(prompts.begin(), prompts.end(), [](const DatasetPrompt& p) { return !p.later.empty(); });
  const Turns turns = draw_turns(traffic, seed, static_cast<size_t>(count));
  Random random(seed ^ 0x5eed);
  size_t taken = 0, said = 0;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    PlannedRequest request;
    request.follows = turns.follows[i];
    request.think_s = turns.think_s[i];
    if (request.follows && recorded) {
      const std::vector<DatasetTurn>& later = prompts[(taken - 1) % prompts.size()].later;
      request.follows = said < later.size();
      if (request.follows) request.prompt = later[said].text, request.max_tokens = later[said].output_tokens, ++said;
    }
    if (request.prompt.empty()) {
      const size_t place = taken++ % prompts.size();
      if (taken > 1 && place == 0) random.shuffle(prompts);   // a short file goes round again in another order
      said = 0;
      if (!request.follows) request.think_s = 0;
      request.prompt = prompts[place].prompt;
      request.max_tokens = prompts[place].output_tokens;
    }
    trace.requests.push_back(std::move(request));
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

// Conversations arrive so much more rarely that requests come at the stated rate.
void set_arrivals(Traffic traffic, uint64_t seed, RequestTrace& trace) {
  std::vector<PlannedRequest*> openings;
  for (PlannedRequest& request : trace.requests)
    if (!request.follows) openings.push_back(&request);
  const double share = static_cast<double>(openings.size()) / static_cast<double>(trace.requests.size());
  traffic.rate_rps *= share;
  traffic.arrival.ramp_from_rps *= share;
  const std::vector<double> times = arrival_times(traffic, seed, openings.size());
  for (size_t i = 0; i < times.size(); ++i) openings[i]->at_s = times[i];
}

std::string hash_of(const RequestTrace& trace) {
  std::string bytes;
  for (const PlannedRequest& request : trace.requests) {
    bytes += std::to_string(request.max_tokens) + " " +
             std::to_string(std::llround(request.at_s * 1e6)) + " " +
             std::to_string(request.prompt.size()) + "\n" + request.prompt + "\n";
    if (request.follows) bytes += "follows after " + std::to_string(std::llround(request.think_s * 1e6)) + "\n";
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
