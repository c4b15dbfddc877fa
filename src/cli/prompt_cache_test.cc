#include "cli/prompt_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/server.h"

namespace hyperloom {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

using Samples = std::map<std::string, double>;

TEST(PromptCache, HitsAgainstQueries) {
  const Samples before = parse_prometheus("vllm:prefix_cache_queries_total{m=\"a\"} 1000\nvllm:prefix_cache_hits_total{m=\"a\"} 900\n");
  const Samples after = parse_prometheus("vllm:prefix_cache_queries_total{m=\"a\"} 3000\nvllm:prefix_cache_hits_total{m=\"a\"} 1400\n");
  EXPECT_DOUBLE_EQ(cached_share(before, after, 0).value(), 0.25);   // of the run, not of the server's life
}

TEST(PromptCache, WhatWasAskedButNotComputed) {
  EXPECT_DOUBLE_EQ(cached_share({{"llamacpp:prompt_tokens_total", 50}}, {{"llamacpp:prompt_tokens_total", 250}}, 800).value(), 0.75);
  EXPECT_DOUBLE_EQ(cached_share({{"llamacpp:prompt_tokens_total", 50}}, {{"llamacpp:prompt_tokens_total", 250}}, 150).value(), 0);
}

TEST(PromptCache, NothingIsSaidWithoutEvidence) {
  EXPECT_FALSE(cached_share({}, {}, 100));
  EXPECT_FALSE(cached_share({{"other_total", 1}}, {{"other_total", 2}}, 100));
  EXPECT_FALSE(cached_share({{"llamacpp:prompt_tokens_total", 50}}, {{"llamacpp:prompt_tokens_total", 250}}, 0));
  EXPECT_FALSE(cached_share({{"llamacpp:prompt_tokens_total", 500}}, {{"llamacpp:prompt_tokens_total", 250}}, 800));   // restarted
}

TEST(PromptCache, IsWarnedOfOnceAndOnlyWhenItMatters) {
  const Samples before = {{"sglang:cached_tokens_total", 0}, {"sglang:prompt_tokens_total", 0}};
  LoadResult much, little, told;
  note_prompt_cache(before, {{"sglang:cached_tokens_total", 60}, {"sglang:prompt_tokens_total", 100}}, much);
  EXPECT_DOUBLE_EQ(much.summary.cached_prompt_share, 0.6);
  EXPECT_THAT(much.summary.warnings, Contains(HasSubstr("60 %")));
  note_prompt_cache(before, {{"sglang:cached_tokens_total", 2}, {"sglang:prompt_tokens_total", 100}}, little);
  EXPECT_THAT(little.summary.warnings, IsEmpty());
  told.summary.cached_prompt_share = 0.5;
  note_prompt_cache(before, {{"sglang:cached_tokens_total", 60}, {"sglang:prompt_tokens_total", 100}}, told);
  EXPECT_THAT(told.summary.warnings, IsEmpty());
  note_prompt_cache({{"x_total", 5}}, {{"x_total", 1}}, told);
  EXPECT_THAT(told.summary.warnings, Contains(HasSubstr("restarted")));
}

}  // namespace
}  // namespace hyperloom
