#include "candidate/candidate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hyperloom {
namespace {

const Change kSlots{"flag", "-np", "8"};
const Change kWeights{"precision", "weights", "Q8_0"};

TEST(Candidate, IdentityDependsOnTheSetNotTheOrder) {
  EXPECT_EQ(Candidate().id(), "stock");
  EXPECT_EQ(Candidate().with(kSlots).with(kWeights), Candidate().with(kWeights).with(kSlots));
  EXPECT_NE(Candidate().with(kSlots), Candidate().with({"flag", "-np", "4"}));
  EXPECT_NE(Candidate().with({"env", "a", "b"}), Candidate().with({"flag", "a", "b"}));
  EXPECT_EQ(Candidate().with(kSlots).id().size(), 12u);
}

TEST(Candidate, OneEntryAKnob) {
  const Candidate candidate = Candidate().with(kSlots).with(kWeights).with({"flag", "-np", "4"});
  EXPECT_EQ(candidate.changes.size(), 2u);
  EXPECT_EQ(candidate.find("-np")->value, "4");
  EXPECT_EQ(candidate.without("-np").without("weights").id(), "stock");
  EXPECT_EQ(candidate.find("-ub"), nullptr);
}

TEST(Candidate, Texts) {
  EXPECT_EQ(Candidate().text(), "stock");
  EXPECT_EQ(Candidate().with(kSlots).with(kWeights).text(), "-np 8 + weights Q8_0");
  EXPECT_EQ((Change{"env", "OMP_WAIT_POLICY", "PASSIVE"}).text(), "OMP_WAIT_POLICY=PASSIVE");
  EXPECT_EQ((Change{"flag", "-kvu", "true"}).text(), "-kvu");
  EXPECT_EQ((Change{"build", "build", "lto"}).text(), "build lto");
}

TEST(Candidate, JsonAndBack) {
  const Candidate candidate = Candidate().with(kSlots).with(kWeights);
  EXPECT_EQ(Json(candidate).get<Candidate>().changes, candidate.changes);
  EXPECT_THROW(Json::parse(R"([{"kind": "flag"}])").get<Candidate>(), Json::exception);
}

}  // namespace
}  // namespace hyperloom
