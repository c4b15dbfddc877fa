// `hyperloom compare`: its arguments. The work is in compare_boots.cc and compare_servers.cc.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/compare_parts.h"
#include "cli/traffic_flags.h"

namespace hyperloom {
namespace {

constexpr int kLeastPairs = 3, kMostPairs = 16;

}  // namespace

int compare_command(const CompareOptions& options) {
  if (options.max_pairs < kLeastPairs || options.max_pairs > kMostPairs)
    throw bad_input(fmt::format("--max-pairs {} is outside {} to {}", options.max_pairs, kLeastPairs, kMostPairs),
                    "fewer prove nothing, and what more would find is seldom worth having");
  if (!(options.alpha > 0 && options.alpha <= 0.2))
    throw bad_input(fmt::format("--alpha {} is outside (0, 0.2]", options.alpha), "0.05 is usual; smaller is stricter");
  if (!(options.least_gain >= 0 && options.least_gain < 1))
    throw bad_input(fmt::format("--least-gain {} is outside [0, 1)", options.least_gain), "0.005 is half a percent");
  const bool url_a = is_url(options.a), url_b = is_url(options.b);
  if (url_a != url_b)
    throw bad_input(fmt::format("{} is a URL and {} a command", url_a ? "A" : "B", url_a ? "B" : "A"),
                    "give two launch commands (then it decides) or two URLs (then it estimates)");
  const Traffic traffic = checked_traffic({.clients = options.clients, .requests = options.requests, .prompt_tokens = options.prompt_tokens,
                                           .output_tokens = options.output_tokens, .api = options.api, .seed = options.seed});
  return url_a ? compare_servers(options, traffic) : compare_boots(options, traffic);
}

}  // namespace hyperloom
