#include "cli/prompt_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/server_check.h"
#include "engine/server.h"
#include "net/http.h"

namespace hyperloom {
namespace {

constexpr double kScrapeLimit_s = 3, kShareTold = 0.05;

struct Names { const char *hits, *asked; };
// Tokens each. vLLM: v1, and its older name; SGLang.
constexpr Names kPairs[] = {{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"},
                            {"vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_queries_total"},
                            {"sglang:cached_tokens_total", "sglang:prompt_tokens_total"}};
// Prompt tokens that were computed, without those from the cache: llama.cpp.
constexpr const char* kComputed = "llamacpp:prompt_tokens_total";

}  // namespace

std::map<std::string, double> scrape(const LoadSpec& spec) {
  HttpRequest request = request_to(spec, "/metrics");
  request.timeout_s = kScrapeLimit_s;
  const HttpResponse page = http_call(request);
  return page.ok() ? parse_prometheus(page.body) : std::map<std::string, double>{};
}

std::optional<double> cached_share(const std::map<std::string, double>& before, const std::map<std::string, double>& after,
                                   double asked_tokens) {
  const MetricsDelta delta = metrics_between(before, after);
  if (delta.restarted) return std::nullopt;
  for (const Names& names : kPairs) {
    const auto hits = sample_of(delta.values, names.hits), asked = sample_of(delta.values, names.asked);
    if (hits && asked && *asked > 0) return std::clamp(*hits / *asked, 0.0, 1.0);
  }
  const auto computed = sample_of(delta.values, kComputed);
  if (!computed || asked_tokens <= 0) return std::nullopt;
  return std::clamp(1 - *computed / asked_tokens, 0.0, 1.0);
}

void note_prompt_cache(const std::map<std::string, double>& before, const std::map<std::string, double>& after, LoadResult& result) {
  LoadSummary& summary = result.summary;
  if (metrics_between(before, after).restarted) summary.warnings.push_back("the server's counters fell: it was restarted during the run");
  if (summary.cached_prompt_share > 0) return;
  const auto share = cached_share(before, after, result.answered_prompt_tokens);
  if (!share) return;
  summary.cached_prompt_share = *share;
  if (*share > summary.shared_prompt_share + kShareTold)
    summary.warnings.push_back(fmt::format("prefix cache: by its own counters the server took {:.0f} % of the prompt tokens from its cache: TTFT "
                                           "and throughput are better than for fresh prompts; another --seed asks for fresh text",
                                           100 * *share));
}

}  // namespace hyperloom
