#include "load/request_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "load/dataset.h"
#include "load/random.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

Traffic synthetic() {
  Traffic traffic;
  traffic.clients = 4;
  traffic.prompt_tokens = {120, 0.5};
  traffic.output_tokens = {60, 0.3};
  return traffic;
}

int words_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), ' ')) + 1;
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

// These bytes are in recipes and journals: a change of the generator is a change of every user's traces.
TEST(RequestTrace, TheSameSeedGivesTheSameBytesForEver) {
  const RequestTrace trace = make_trace(synthetic(), 42, 16, 1.25);
  EXPECT_EQ(trace.sha256, "d43adfe5dbed72977d72494db8e08320b58a32da5d2d563bf852757c83b60ec8");
  Traffic open = synthetic();
  open.kind = Traffic::Kind::Open;
  open.rate_rps = 4;
  open.shared_prefix_tokens = 20;
  EXPECT_EQ(make_trace(open, 42, 16, 1.25).sha256, "37aee228a0bc50b8521787a9223f45698f69d47a97cc3fecb951e47cd56540f9");
  open.arrival = {.process = Arrival::Process::Gamma, .burstiness = 0.3, .ramp_up = "linear", .ramp_from_rps = 1, .max_in_flight = 3};
  EXPECT_EQ(make_trace(open, 42, 16, 1.25).sha256, "4ffd9c409b9059ce91b65b85784aae8155045406381b0d474e9363a14dbf35a8");
  EXPECT_NE(make_trace(synthetic(), 43, 16, 1.25).sha256, trace.sha256);
}

TEST(RequestTrace, RandomNumbersAreThePublishedOnes) {
  // xoshiro256** after splitmix64 from 0, computed with the authors' reference code.
  Random random(0);
  EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.next(), 0xbf6e1f784956452au);
}

TEST(RequestTrace, LengthsFollowMeanAndSpread) {
  Traffic traffic = synthetic();
  traffic.prompt_tokens = {200, 0.4};
  const RequestTrace trace = make_trace(traffic, 7, 4000, 1.0);
  double sum = 0, squares = 0, output = 0;
  for (const PlannedRequest& r : trace.requests) {
    const double words = words_in(r.prompt);
    sum += words, squares += words * words, output += r.max_tokens;
    EXPECT_EQ(r.at_s, 0);
  }
  const double mean = sum / 4000, sd = std::sqrt(squares / 4000 - mean * mean);
  EXPECT_NEAR(mean, 200, 5);           // four standard errors: 0.4 * 200 / sqrt(4000) = 1.26
  EXPECT_NEAR(sd / mean, 0.4, 0.03);
  EXPECT_NEAR(output / 4000, 60, 1.5);
}

TEST(RequestTrace, TokensPerWordShortensTheText) {
  Traffic traffic = synthetic();
  traffic.prompt_tokens = {130, 0};
  EXPECT_EQ(words_in(make_trace(traffic, 1, 1, 1.3).requests[0].prompt), 100);
  EXPECT_EQ(words_in(make_trace(traffic, 1, 1, 1.0).requests[0].prompt), 130);
}

TEST(RequestTrace, PromptsDifferFromTheFirstWordOn) {
  const RequestTrace trace = make_trace(synthetic(), 3, 300, 1.2);
  std::set<std::string> firsts;
  for (const PlannedRequest& r : trace.requests) firsts.insert(first_word(r.prompt));
  EXPECT_EQ(firsts.size(), 300u);
}

TEST(RequestTrace, ASharedPrefixIsSharedByAllLegsAndPartOfTheLength) {
  Traffic traffic = synthetic();
  traffic.prompt_tokens = {100, 0};
  traffic.shared_prefix_tokens = 40;
  const RequestTrace one = make_trace(traffic, 1, 8, 1.0), two = make_trace(traffic, 2, 8, 1.0);
  auto shared = [](const std::string& a, const std::string& b) {
    return words_in(a.substr(0, static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                                    a.begin())));
  };
  EXPECT_GE(shared(one.requests[0].prompt, one.requests[1].prompt), 40);
  EXPECT_LE(shared(one.requests[0].prompt, one.requests[1].prompt), 42);
  EXPECT_GE(shared(one.requests[0].prompt, two.requests[0].prompt), 40);
  EXPECT_EQ(words_in(one.requests[0].prompt), 100);
}

TEST(RequestTrace, ArrivalsHaveTheStatedRateAndExponentialGaps) {
  Traffic traffic = synthetic();
  traffic.kind = Traffic::Kind::Open;
  traffic.rate_rps = 5;
  const RequestTrace trace = make_trace(traffic, 11, 2001, 1.2);
  EXPECT_EQ(trace.requests.front().at_s, 0);
  EXPECT_NEAR(trace.requests.back().at_s, 400, 1e-6);
  int short_gaps = 0;
  for (size_t i = 1; i < trace.requests.size(); ++i) {
    const double gap = trace.requests[i].at_s - trace.requests[i - 1].at_s;
    EXPECT_GE(gap, 0);
    short_gaps += gap < 0.2;
  }
  EXPECT_NEAR(short_gaps / 2000.0, 1 - std::exp(-1), 0.045);
}

TEST(RequestTrace, WhatIsMissingIsSaid) {
  auto message = [](const Traffic& traffic, int count) -> std::string {
    try {
      make_trace(traffic, 1, count, 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_NE(error.mend(), "");
      return error.what();
    }
    return "no error";
  };
  Traffic traffic = synthetic();
  EXPECT_THAT(message(traffic, 0), HasSubstr("0 requests"));
  traffic.prompt_tokens = {};
  EXPECT_THAT(message(traffic, 1), HasSubstr("traffic.prompt_tokens"));
  traffic = synthetic();
  traffic.output_tokens = {};
  EXPECT_THAT(message(traffic, 1), HasSubstr("traffic.output_tokens"));
  traffic = synthetic();
  traffic.kind = Traffic::Kind::Open;
  EXPECT_THAT(message(traffic, 1), HasSubstr("traffic.rate_rps"));
}

class Dataset : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    write_file(folder_.path() / name, content);
    return (folder_.path() / name).string();
  }
  std::multiset<std::string> prompts(const std::string& name, int count = 10) {
    std::multiset<std::string> all;
    for (const DatasetPrompt& p : sample_dataset(name, 1, count)) all.insert(p.prompt);
    return all;
  }
  std::string error(const std::string& name) {
    try {
      sample_dataset(name, 1, 10);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_NE(error.mend(), "");
      return error.what();
    }
    return "no error";
  }
  TempDir folder_;
};

using Prompts = std::multiset<std::string>;

TEST_F(Dataset, PlainLines) {
  EXPECT_EQ(prompts(file("a", "one\r\n\n  two words \nthree")), (Prompts{"one", "two words", "three"}));
  EXPECT_EQ(prompts(file("a.txt", "[not json\n{nor this")), (Prompts{"[not json", "{nor this"}));
}

TEST_F(Dataset, JsonLines) {
  const std::string name = file("a.jsonl", "\xEF\xBB\xBF{\"prompt\": \"one\"}\n\n{\"prompt\":\"two\",\"output_tokens\":7}\n");
  EXPECT_EQ(prompts(name), (Prompts{"one", "two"}));
  const std::string bad = file("b.jsonl", "{\"prompt\": \"one\"}\n{\"prompt\": 3}\n");
  EXPECT_EQ(error(bad), bad + ":2 (byte 18): this line has no string \"prompt\"");
  const std::string cut = file("c.jsonl", "{\"prompt\": \"one\"}\n{\"prompt\": \"tw");
  EXPECT_THAT(error(cut), HasSubstr(cut + ":2 (byte 18)"));
  EXPECT_THAT(error(file("d.jsonl", "{\"prompt\":\"x\",\"output_tokens\":-1}")), HasSubstr("-1"));
  const std::string deep(200000, '[');
  const std::string nested = file("e.jsonl", "{\"prompt\":\"x\",\"output_tokens\":" + deep + std::string(deep.size(), ']') + "}");
  EXPECT_EQ(error(nested), nested + ":1 (byte 0): \"output_tokens\" is no number");
}

const char* const kShareGpt =
    R"([{"id":"1","conversations":[{"from":"human","value":"first \u00e9"},{"from":"gpt","value":"abcdefghijkl"}]},
        {"id":"2","tags":[{"from":"human","value":"no turn"}],"conversations":[]},
        {"conversations":[{"from":"system","value":"be nice"},{"value":"second","from":"human"},
                          {"from":"human","value":"later"}],"extra":{"deep":[[{"from":"human"}]]}},
        {"conversations":[{"from":"gpt","value":"I begin"},{"from":"human","value":"数据 third"}]}])";

TEST_F(Dataset, ShareGpt) {
  const std::string name = file("a.json", kShareGpt);
  EXPECT_EQ(prompts(name), (Prompts{"first \xC3\xA9", "second", "数据 third"}));
  for (const DatasetPrompt& p : sample_dataset(name, 1, 10)) {
    EXPECT_EQ(p.output_tokens, p.prompt[0] == 'f' ? 4 : 0) << p.prompt;
  }
}

TEST_F(Dataset, AShareGptFileCutAnywhereGivesTheWholeConversationsBeforeTheCut) {
  const std::string whole = kShareGpt;
  const size_t first_ends = whole.find("]},") + 2;
  for (size_t cut = first_ends; cut < whole.size(); ++cut) {
    const Prompts got = prompts(file("cut.json", whole.substr(0, cut)));
    EXPECT_GE(got.size(), 1u) << cut;
    EXPECT_EQ(got.count("first \xC3\xA9"), 1u) << cut;
  }
  for (size_t cut = 1; cut < first_ends; ++cut) {
    EXPECT_THAT(error(file("cut.json", whole.substr(0, cut))), HasSubstr("holds no prompt")) << cut;
  }
}

TEST_F(Dataset, AMalformedShareGptFileIsRefusedWithItsOffset) {
  const std::string name = file("a.json", std::string("[{\"conversations\": [}]") + std::string(40, ' '));
  EXPECT_THAT(error(name), HasSubstr(name + ": malformed at byte 21"));
}

TEST_F(Dataset, ProblemsOfTheFileAreSaid) {
  EXPECT_THAT(error((folder_.path() / "absent").string()), HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(error(folder_.path().string()), HasSubstr("is a folder"));
  EXPECT_THAT(error(file("empty", "\n\n")), HasSubstr("holds no prompt"));
  EXPECT_THAT(error(file("e.json", "[]")), HasSubstr("holds no prompt"));
}

TEST_F(Dataset, ASampleIsEvenAndSeeded) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += std::to_string(i) + "\n";
  const std::string name = file("many.txt", lines);
  auto sum = [&](uint64_t seed) {
    double total = 0;
    for (const DatasetPrompt& p : sample_dataset(name, seed, 100)) total += std::stod(p.prompt);
    return total / 100;
  };
  EXPECT_EQ(sum(5), sum(5));
  EXPECT_NE(sum(5), sum(6));
  EXPECT_NEAR((sum(1) + sum(2) + sum(3) + sum(4)) / 4, 499.5, 60);   // standard error 14
}

TEST_F(Dataset, AShortFileGoesRoundAgain) {
  Traffic traffic = synthetic();
  traffic.prompt_tokens = {};
  traffic.dataset = file("few.txt", "a\nb\nc\n");
  const RequestTrace trace = make_trace(traffic, 1, 9, 1);
  std::multiset<std::string> all;
  for (const PlannedRequest& r : trace.requests) all.insert(r.prompt);
  EXPECT_EQ(all, (Prompts{"a", "a", "a", "b", "b", "b", "c", "c", "c"}));
}

TEST_F(Dataset, TheFilesOwnAnswerLengthsAreUsedWhenTheWorkloadGivesNone) {
  Traffic traffic = synthetic();
  traffic.output_tokens = {};
  traffic.dataset = file("own.jsonl", "{\"prompt\":\"x\",\"output_tokens\":77}");
  EXPECT_EQ(make_trace(traffic, 1, 1, 1).requests[0].max_tokens, 77);
}

}  // namespace
}  // namespace hyperloom
