#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "measure/quality.h"

namespace hyperloom {
namespace {

using ::testing::HasSubstr;

// What llama-perplexity v0.4.0 prints, cut to the lines around those that are read.
constexpr const char* kOutput =
    "chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS            Same top p\n"
    "  16      21.2290 ±    1.0273       0.00265 ±    0.00143       0.00329 ±    0.00007     1.309 ±  0.046 %    95.931 ±  0.309 %\n"
    "Mean PPL(base)                :  21.172855 ±   1.024141\n"
    "Mean PPL(Q)/PPL(base)         :   1.002652 ±   0.001433\n"
    "Mean    KLD:   0.003286 ±   0.000067\n"
    "Maximum KLD:   0.140978\n"
    "Same top p: 95.931 ± 0.309 %\n";

class Kl : public testing::Test {
 protected:
  Kl() {
    pack_.name = "fake";
    order_.tools = dir_.path();
    order_.model = "model.gguf";
    order_.text = "text.txt";
    order_.base = dir_.path() / "base.bin";
    order_.flags = {"-fa", "off"};
    order_.limit_s = 30;
  }
  void set_compare(const std::string& script) {
    write_file(dir_.path() / "tool.sh", script);
    pack_.kl_compare = ToolCommand{{"sh", "${tools}/tool.sh", "${base}", "${flags}", "-m", "${model}"},
                                   {{"mean_kl", "Mean +KLD: +([-0-9.a-z]+)"},
                                    {"mean_kl_se", "Mean +KLD: +[-0-9.]+ ± +([0-9.]+)"},
                                    {"ppl_ratio", "PPL\\(Q\\)/PPL\\(base\\) +: +([0-9.]+)"},
                                    {"top1", "Same top p: +([0-9.]+)"},
                                    {"top1_se", "Same top p: +[0-9.]+ ± +([0-9.]+)"}}};
  }
  void set_base(const std::string& script) { pack_.kl_base = ToolCommand{{"sh", "-c", script, "tool", "${base}"}, {}}; }
  KlResult compare() {
    write_file(order_.base, "logits");
    return compare_kl(pack_, order_);
  }

  TempDir dir_;
  Pack pack_;
  KlOrder order_;
};

TEST_F(Kl, ReadsTheToolsFigures) {
  set_compare("echo \"$@\" > " + (dir_.path() / "argv").string() + "\ncat <<'E'\n" + kOutput + "E\n");
  const KlResult kl = compare();
  ASSERT_TRUE(kl.ok) << kl.error;
  EXPECT_DOUBLE_EQ(kl.mean_kl, 0.003286);
  EXPECT_DOUBLE_EQ(kl.mean_kl_se, 0.000067);
  EXPECT_DOUBLE_EQ(kl.ppl_ratio, 1.002652);
  EXPECT_DOUBLE_EQ(kl.top1, 0.95931);
  EXPECT_DOUBLE_EQ(kl.top1_se, 0.00309);
  EXPECT_EQ(kl.tokens, 8192);
  EXPECT_EQ(read_file(dir_.path() / "argv"), order_.base.string() + " -fa off -m model.gguf\n");
}

// The shipped pack's own patterns against what its tool prints.
TEST_F(Kl, TheShippedPackReadsItsTool) {
  set_compare("cat <<'E'\nperplexity: computing over 16 chunks\n" + std::string(kOutput) + "E\n");
  const Pack shipped = load_pack(HYPERLOOM_CASES "/../../engines/llama.cpp");
  ASSERT_TRUE(shipped.kl_compare);
  pack_.kl_compare->read = shipped.kl_compare->read;
  const KlResult kl = compare();
  ASSERT_TRUE(kl.ok) << kl.error;
  EXPECT_DOUBLE_EQ(kl.mean_kl, 0.003286);
  EXPECT_DOUBLE_EQ(kl.ppl_ratio_se, 0.001433);
  EXPECT_DOUBLE_EQ(kl.top1, 0.95931);
}

TEST_F(Kl, PassesTheCandidatesEnvironment) {
  order_.env = {{"OMP_WAIT_POLICY", "PASSIVE"}};
  set_compare("test \"$OMP_WAIT_POLICY\" = PASSIVE || exit 3\ncat <<'E'\n" + std::string(kOutput) + "E\n");
  EXPECT_TRUE(compare().ok);
}

TEST_F(Kl, AFailingToolIsAValueWithItsLastWords) {
  set_compare("echo loading; echo 'unknown argument: -fa'; exit 1");
  const KlResult kl = compare();
  EXPECT_FALSE(kl.ok);
  EXPECT_FALSE(kl.no_evidence) << "it ran on the candidate's own settings";
  EXPECT_THAT(kl.error, HasSubstr("exit code 1"));
  EXPECT_THAT(kl.error, HasSubstr("unknown argument: -fa"));
}

TEST_F(Kl, WhatSaysNothingOfTheCandidateIsNoEvidence) {
  set_compare("echo 'write: No space left on device'; exit 1");
  EXPECT_TRUE(compare().no_evidence);
  pack_.kl_compare->argv = {"${tools}/absent"};
  EXPECT_TRUE(compare().no_evidence);
  set_base("exit 1");
  EXPECT_TRUE(make_kl_base(pack_, order_).no_evidence);
  set_compare("true");
  EXPECT_FALSE(compare().no_evidence) << "a tool that ends well without figures is broken, not short of anything";
}

TEST_F(Kl, AMissingOrBrokenNumberIsNoPass) {
  set_compare("echo 'Mean    KLD:   0.1 ± 0.1'");
  EXPECT_THAT(compare().error, HasSubstr("no number for `ppl_ratio`"));
  set_compare("echo 'Mean    KLD:   nan'; echo 'Same top p: 1 ± 1'");
  EXPECT_THAT(compare().error, HasSubstr("no number for `mean_kl`"));
  EXPECT_FALSE(compare().ok);
}

TEST_F(Kl, EveryJudgedFigureMustBeRead) {
  set_compare("true");
  pack_.kl_compare->read.erase("top1");
  EXPECT_THAT(compare().error, HasSubstr("lacks `top1`"));
}

TEST_F(Kl, AToolThatHangsIsKilledAtTheLimit) {
  order_.limit_s = 0.3;
  set_compare("exec sleep 600");
  const KlResult kl = compare();
  EXPECT_THAT(kl.error, HasSubstr("took longer"));
  EXPECT_TRUE(kl.no_evidence);
}

TEST_F(Kl, StopsOnRequest) {
  volatile bool stop = true;
  set_compare("exec sleep 600");
  write_file(order_.base, "logits");
  EXPECT_EQ(compare_kl(pack_, order_, &stop).error, "stopped");
}

TEST_F(Kl, MissingToolOrBase) {
  EXPECT_THAT(compare().error, HasSubstr("pack fake has no quality tool"));
  EXPECT_THAT(make_kl_base(pack_, order_).error, HasSubstr("pack fake has no quality tool"));
  set_compare("true");
  fs::remove(order_.base);
  EXPECT_THAT(compare_kl(pack_, order_).error, HasSubstr("stock's logits are missing"));
}

TEST_F(Kl, UnknownVariableOfThePackIsAnError) {
  pack_.kl_compare = ToolCommand{{"sh", "${nonsense}"}, {}};
  EXPECT_THROW(compare(), Error);
}

TEST_F(Kl, BaseAppearsOnlyWhole) {
  set_base("echo half > \"$1\"; exit 1");
  EXPECT_FALSE(make_kl_base(pack_, order_).ok);
  EXPECT_TRUE(fs::is_empty(dir_.path()));
  set_base("true");
  EXPECT_THAT(make_kl_base(pack_, order_).error, HasSubstr("wrote no logits"));
  set_base("echo whole > \"$1\"");
  const KlResult made = make_kl_base(pack_, order_);
  EXPECT_TRUE(made.ok) << made.error;
  EXPECT_EQ(read_file(order_.base), "whole\n");
}

}  // namespace
}  // namespace hyperloom
