#include "load/request_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
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

Traffic talking(double turns) {
  Traffic traffic = synthetic();
  traffic.turns.mean = turns;
  traffic.think_s = {2, 0.5};
  return traffic;
}

TEST(RequestTrace, ConversationsHaveTheirTurnsAndThoughts) {
  Traffic traffic = talking(4);
  traffic.shared_prefix_tokens = 40;
  const RequestTrace trace = make_trace(traffic, 5, 10, 1.0);
  const std::string opening = trace.requests[0].prompt.substr(0, 60);
  for (size_t i = 0; i < 10; ++i) {
    const PlannedRequest& r = trace.requests[i];
    EXPECT_EQ(r.follows, i % 4 != 0) << i;
    EXPECT_EQ(r.think_s > 0, r.follows);
    EXPECT_EQ(r.prompt.substr(0, 60) == opening, !r.follows) << "only the first turn has the shared prefix";
    EXPECT_EQ(r.shared > 0, i > 0 && !r.follows);
  }
  EXPECT_EQ(trace.sha256, "b7a45c8a31a5d7cbecc417693bbfc1c06932849b71d97d10fe0cc7f3232f80ed") << "for ever";
  const RequestTrace varied = make_trace([&] { traffic.turns.cv = 0.5; return traffic; }(), 5, 4000, 1.0);
  double openings = 0, thought = 0;
  for (const PlannedRequest& r : varied.requests) openings += !r.follows, thought += r.think_s;
  EXPECT_NEAR(4000 / openings, 4, 0.35);
  EXPECT_NEAR(thought / (4000 - openings), 2, 0.15);
}

TEST(RequestTrace, ConversationsArriveSoThatRequestsComeAtTheStatedRate) {
  Traffic traffic = talking(4);
  traffic.kind = Traffic::Kind::Open;
  traffic.rate_rps = 8;
  const RequestTrace trace = make_trace(traffic, 5, 400, 1.0);
  EXPECT_NEAR(trace.requests[396].at_s, 99 / 2.0, 1e-9) << "100 conversations at 2 a second";
}

}  // namespace
}  // namespace hyperloom
