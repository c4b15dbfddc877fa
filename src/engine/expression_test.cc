#include "engine/expression.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace hyperloom {
namespace {

const Facts kFacts = {{"model.heads", 28.0},     {"model.kv_heads", 4.0}, {"machine.avx512f", 1.0},
                      {"traffic.clients", 8.0},  {"traffic.kind", std::string("closed")},
                      {"knob.-np", 4.0},         {"knob.--cache-ram", 0.0}, {"knob.-fa", std::string("auto")}};

std::string value(const std::string& expression) {
  const auto result = evaluate(expression, kFacts);
  return result ? text_of(*result) : "nothing";
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("(1 + 2) * 3"), "9");
  EXPECT_EQ(value("10 - 4 - 3"), "3");
  EXPECT_EQ(value("7 / 2"), "3.5");
  EXPECT_EQ(value("-7 % 4 + 0.5"), "-2.5");
  EXPECT_EQ(value("--2"), "2");
  EXPECT_EQ(value("traffic.clients * 2"), "16");
  EXPECT_EQ(value("1e3"), "1000");
  EXPECT_EQ(value("'a b'"), "a b");
}

TEST(Expression, NamesOfKnobsMayHoldDashes) {
  EXPECT_EQ(value("knob.-np * 2"), "8");
  EXPECT_EQ(value("knob.-np - 1"), "3");
  EXPECT_TRUE(holds("knob.--cache-ram == 0", kFacts));
  EXPECT_TRUE(holds("knob.-fa != 'off'", kFacts));
}

TEST(Expression, Logic) {
  EXPECT_TRUE(holds("", kFacts));
  EXPECT_TRUE(holds("  ", kFacts));
  EXPECT_TRUE(holds("machine.avx512f", kFacts));
  EXPECT_TRUE(holds("not machine.amx_tile", kFacts));
  EXPECT_TRUE(holds("1 == 2 or traffic.kind == 'closed' and 3 >= 3", kFacts));
  EXPECT_FALSE(holds("(1 == 2 or 3 >= 3) and traffic.kind == 'poisson'", kFacts));
  EXPECT_TRUE(holds("not not 1 < 2", kFacts));
  EXPECT_FALSE(holds("0", kFacts));
  EXPECT_FALSE(holds("''", kFacts));
}

TEST(Expression, MissingNamesMakeAComparisonFalse) {
  EXPECT_FALSE(holds("model.experts == 0", kFacts));
  EXPECT_FALSE(holds("model.experts != 0", kFacts));
  EXPECT_FALSE(holds("model.experts + 1 > 0", kFacts));
  EXPECT_EQ(value("model.experts * 2"), "nothing");
  EXPECT_TRUE(holds("model.experts > 0 or machine.avx512f", kFacts));
}

TEST(Expression, StringsAndNumbersDoNotMix) {
  EXPECT_FALSE(holds("traffic.kind == 8", kFacts));
  EXPECT_TRUE(holds("traffic.kind != 8", kFacts));
  EXPECT_FALSE(holds("traffic.kind < 8", kFacts));
  EXPECT_EQ(value("traffic.kind + 1"), "nothing");
  EXPECT_EQ(value("1 / 0"), "nothing");
  EXPECT_EQ(value("1 % 0"), "nothing");
  EXPECT_EQ(value("1e308 * 10"), "nothing");
}

TEST(Expression, SyntaxErrorsNameTheColumn) {
  for (const std::string bad : {"1 +", "(1", "1)", "'open", "model", "traffic.clients = 8", "a.b.c $", "and",
                                "1 2", "not", "== 1", "."}) {
    try {
      evaluate(bad, kFacts);
      ADD_FAILURE() << "accepted: " << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_NE(std::string(error.what()).find("column"), std::string::npos) << error.what();
      EXPECT_FALSE(error.mend().empty());
    }
  }
}

TEST(Expression, DeepNestingIsRefusedNotACrash) {
  EXPECT_THROW(evaluate(std::string(100000, '('), kFacts), Error);
  EXPECT_THROW(evaluate(std::string(100000, '-') + "1", kFacts), Error);
  std::string nots;
  for (int i = 0; i < 50000; ++i) nots += "not ";
  EXPECT_THROW(holds(nots + "1", kFacts), Error);
}

TEST(Expression, NamesIn) {
  EXPECT_EQ(names_in("knob.-np > 1 and model.heads % 2 == 0"),
            (std::set<std::string>{"knob.-np", "model.heads"}));
  EXPECT_TRUE(names_in("").empty());
}

TEST(Expression, TextAndBack) {
  EXPECT_EQ(text_of(value_of("8")), "8");
  EXPECT_EQ(text_of(value_of("0.5")), "0.5");
  EXPECT_EQ(text_of(value_of("Q8_0")), "Q8_0");
  EXPECT_EQ(value_of("nan").index(), 1u);
  EXPECT_EQ(value_of("8x").index(), 1u);
  EXPECT_EQ(value_of("").index(), 1u);
}

}  // namespace
}  // namespace hyperloom
