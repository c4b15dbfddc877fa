#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "report/findings.h"
#include "report/sample_state_for_test.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Findings findings_of(const SessionState& state) {
  const Findings findings = gather(sample_inputs(state));
  EXPECT_TRUE(findings.subline.empty() ||
              !std::ispunct(static_cast<unsigned char>(findings.subline[0])))
      << findings.subline;
  return findings;
}

// Closed with fresh pairs and a limit on ttft p95: stock has 344 ms there, the full stack 199 ms.
SessionState limited(double max_ms) {
  SessionState state = sample_state();
  state.workload.objective.limits = {{"ttft", 95, max_ms}};
  state.closed->result = "limits_unmet";
  return state;
}

TEST(Headline, LimitsThatTheMediansHoldAreSaidToFailByTheMean) {
  const Findings findings = findings_of(limited(400));
  EXPECT_EQ(findings.headline, "The full stack is not proven to keep the limits: keep stock");
  EXPECT_THAT(findings.subline, StartsWith("ttft p95 <= 400 ms: stock 344 ms, full stack 199 ms"));
  EXPECT_THAT(findings.subline, HasSubstr("by its mean over the fresh pairs"));
  EXPECT_THAT(findings.subline, HasSubstr("Full stack: 1.72x faster"));
  EXPECT_EQ(findings_of(limited(250)).headline, "The full stack is not proven to keep the limits");
}

TEST(Headline, LimitsMissedWithoutFreshPairsNameTheNearest) {
  SessionState state = limited(450);
  state.final_pairs.clear();
  const Findings findings = findings_of(state);
  EXPECT_EQ(findings.headline, "Limits not met, neither by stock nor by what was found");
  EXPECT_THAT(findings.subline, StartsWith("Nearest: "));
  EXPECT_THAT(findings.subline, HasSubstr("by the mean over its legs it misses the limit"));
  EXPECT_THAT(findings.subline, Not(HasSubstr("no fresh pairs")));
}

}  // namespace
}  // namespace hyperloom
