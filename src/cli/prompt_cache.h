// What a server's own counters say of its prompt cache: text that it had seen before costs it nothing, and figures taken
// from it are no figures of fresh prompts.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "load/generator.h"

namespace hyperloom {

// Its Prometheus page at /metrics; empty when it has none.
std::map<std::string, double> scrape(const LoadSpec& spec);

// Share of the prompt tokens between two scrapes that came from the cache; nothing where no known counter is.
// `asked_tokens`: prompt tokens of the answers in between, for servers that only count what they computed.
std::optional<double> cached_share(const std::map<std::string, double>& before, const std::map<std::string, double>& after,
                                   double asked_tokens);

// Adds share and warning to the summary, unless the answers themselves have told it; says a restart, too.
void note_prompt_cache(const std::map<std::string, double>& before, const std::map<std::string, double>& after, LoadResult& result);

}  // namespace hyperloom
