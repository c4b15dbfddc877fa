// What the page says of decisions, the recipe and the builds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sample_state_for_test.h"
#include "report/style.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::Not;

// A kernel build with a mean KL of `kl`: on stock, or on top of other weights.
std::string build_page(double kl, bool on_stock, const std::vector<std::string>& failures = {}) {
  SampleSession session;
  sample_facts(session.state);
  if (!on_stock) session.state.incumbent = Candidate{{kSampleQ8}};
  session.compare({"build", "build", "native-lto"}, "kernel", "forge", "link-time optimisation",
                  0.05, 61, {1.06, 1.05, 1.07});
  session.decide("faster", "p 0.0011 below the bound after 3 pairs", 0.0011);
  session.measure_quality(kl, 1.0003, 0.99, failures);
  return render_html(sample_inputs(session.state));
}

constexpr const char* kHeld = "<span class=\"chip held\">held</span></td></tr><tr><td>perplexity";
constexpr const char* kBroken = "<span class=\"chip broken\">broken</span></td></tr><tr><td>perpl";

TEST(Decisions, ABuildIsShownWithItsOwnDivergenceLimit) {
  EXPECT_THAT(build_page(0.004, true), HasSubstr(std::string("at most 0.006</td><td>") + kHeld));
  EXPECT_THAT(build_page(0.008, true), HasSubstr(std::string("at most 0.006</td><td>") + kBroken));
  const std::string both = "at most 0.006 for the build alone, 0.02 with the other changes</td><td>";
  EXPECT_THAT(build_page(0.008, false), HasSubstr(both + kHeld));
  EXPECT_THAT(build_page(0.008, false, {"this build with stock's weights: quality.kl_mean_max"}),
              HasSubstr(both + kBroken));
  EXPECT_THAT(render_html(sample_inputs(sample_state())), HasSubstr("at most 0.02</td>"));
}

TEST(Decisions, ArmsAreNamedForWhatTheyWere) {
  const std::string html = render_html(sample_inputs(sample_state()));
  EXPECT_THAT(html, HasSubstr("share 82.0 % of their length with the incumbent"));
  EXPECT_THAT(html, HasSubstr("stock with itself under the same load: 97.0 %"));
  const size_t fresh = html.find("<th>A: stock</th><th>B: full stack</th>");
  ASSERT_NE(fresh, std::string::npos);
  EXPECT_THAT(html.substr(0, fresh), HasSubstr("<th>A: incumbent</th><th>B: with the change</th>"));
}

TEST(Recipe, IsSaidAsItHappened) {
  SessionState state = sample_state();
  const auto page = [&](bool written, int items, const std::string& reason) {
    state.recipe = RecipeWritten{"k1", reason, written, items};
    return render_html(sample_inputs(state));
  };
  EXPECT_THAT(page(true, 3, "fresh pairs confirm the gain"),
              HasSubstr("<p>3 items for the recipe database: fresh pairs confirm the gain</p>"));
  const std::string memory = page(true, 1, "read-only; recipes are kept in memory only");
  EXPECT_THAT(memory, HasSubstr("recipes are kept in memory only"));
  EXPECT_THAT(memory, Not(HasSubstr("was written")));
  EXPECT_THAT(page(true, 0, "-a 8 is not kept: a gain needs 3 pairs, it has 2"),
              HasSubstr("Nothing was written to the recipe database: -a 8 is not kept"));
  EXPECT_THAT(page(false, 0, "nothing was kept"),
              HasSubstr("Nothing was written to the recipe database: nothing was kept"));
}

TEST(Builds, ThatRanOutOfTimeLookNeutralAndFailedOnesDoNot) {
  SessionState state = sample_state();
  state.builds[0].ok = state.builds[1].ok = false;
  state.builds[0].out_of_time = true;
  const std::string html = render_html(sample_inputs(state));
  EXPECT_THAT(html, HasSubstr("<span class=\"chip no\">no time</span>"));
  EXPECT_THAT(html, HasSubstr("<span class=\"chip failed\">failed</span>"));
  EXPECT_THAT(kReportStyle, HasSubstr(".chip{"));  // neutral colours; `no` has none of its own
  EXPECT_THAT(kReportStyle, Not(HasSubstr(".chip.no{")));
  EXPECT_THAT(kReportStyle, Not(HasSubstr(".chip.no,")));
  EXPECT_THAT(kReportStyle, HasSubstr(".chip.failed{"));
}

}  // namespace
}  // namespace hyperloom
