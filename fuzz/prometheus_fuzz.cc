// Any two pages of counters: what is read is finite, differences are too, and a share of cached tokens is a share.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/prompt_cache.h"
#include "engine/server.h"

using namespace hyperloom;

namespace {

void require(bool holds) {
  if (!holds) abort();
}

}  // namespace

// Two pages with a zero byte between; the second may be missing.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\0');
  const auto before = parse_prometheus(text.substr(0, cut));
  const auto after = parse_prometheus(cut == std::string::npos ? "" : text.substr(cut + 1));
  for (const auto& [name, value] : before) require(!name.empty() && std::isfinite(value));
  for (const auto& [name, value] : metrics_between(before, after).values) require(std::isfinite(value));
  require(!metrics_between(before, before).restarted);
  for (const auto& [name, value] : before) require(sample_of(before, name).has_value());
  if (const auto share = cached_share(before, after, 1000)) require(*share >= 0 && *share <= 1);
  return 0;
}
