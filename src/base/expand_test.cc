#include "base/expand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

TEST(Expand, ReplacesEveryNameAndLeavesOtherDollars) {
  EXPECT_EQ(expand("--port ${port} $HOME {x} ${port}${model}", {{"port", "80"}, {"model", "m"}}),
            "--port 80 $HOME {x} 80m");
}

TEST(Expand, AValueIsNotExpandedAgain) { EXPECT_EQ(expand("${a}", {{"a", "${b}"}}), "${b}"); }

TEST(Expand, AnUnknownNameIsRefusedWithTheTextAndTheNearest) {
  try {
    expand("run ${prot}", {{"port", "1"}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_THAT(error.what(), HasSubstr("run ${prot}"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean `port`"));
    EXPECT_THAT(error.mend(), HasSubstr("port"));
  }
}

TEST(Expand, AnUnclosedNameIsRefused) { EXPECT_THROW(expand("${port", {{"port", "1"}}), Error); }

}  // namespace
}  // namespace hyperloom
