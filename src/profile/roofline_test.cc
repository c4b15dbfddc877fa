#include "profile/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hyperloom {
namespace {

// Round numbers: 1 GB of tied weights, 1e9 parameters (8 bits), 1 kB of KV cache a token, no logits to speak of.
ModelFacts model() {
  ModelFacts model;
  model.parameters = 1000000000;
  model.bytes = model.step_bytes = 1000000000;
  model.kv_bytes_per_token = 1000;
  model.layers = 10;
  model.heads = 4;
  model.head_dim = 25;
  return model;
}

// 10 requests/s of 100 prompt and 20 output tokens, 0.8 s each: 8 in flight.
LoadSummary load() {
  LoadSummary load;
  load.output_tok_s = 200;
  load.total_tok_s = 1200;
  load.requests_s = 10;
  load.e2e_ms.mean = 800;
  return load;
}

const RoofPoint* find(const Roofline& roofline, Direction direction) {
  for (const RoofPoint& p : roofline.points) {
    if (p.direction == direction) return &p;
  }
  return nullptr;
}

TEST(Roofline, MemoryCountsStepsPrefillPassesAndTheCache) {
  const Roofline roofline = make_roofline(model(), {100, 0}, load(), 4, {});
  ASSERT_EQ(roofline.points.size(), 1u);
  // (200 / 4 + 10 x 1) passes x 1 GB + 200 x 1000 x (100 + 10) bytes
  EXPECT_NEAR(roofline.points[0].achieved, 60 + 0.022, 1e-9);
  EXPECT_NEAR(roofline.points[0].saturation, 0.60022, 1e-9);
  EXPECT_EQ(roofline.bound, "memory");
}

TEST(Roofline, HalfTheWeightBytesMoveHalfTheBytes) {
  EXPECT_NEAR(make_roofline(model(), {100, 0}, load(), 4, {}, 0.5).points[0].achieved, 30.022, 1e-9);
}

TEST(Roofline, ComputeCountsProductsAndAttention) {
  const Roofline roofline = make_roofline(model(), {0, 5000}, load(), 4, {});
  ASSERT_EQ(roofline.points.size(), 1u);
  // 2 x 1e9 x 1200 + 4 x 10 x 4 x 25 x (200 x 110 + 1000 x 50)
  EXPECT_NEAR(roofline.points[0].achieved, 2400 + 0.288, 1e-9);
  EXPECT_EQ(roofline.bound, "compute");
}

TEST(Roofline, PromptTokensNeedNoOutputMatrix) {
  ModelFacts with = model();
  with.vocabulary = 100000;
  with.embedding = 1000;   // 1e8 parameters
  const double achieved = make_roofline(with, {0, 5000}, load(), 4, {}).points[0].achieved;
  EXPECT_NEAR(achieved, 2 * 200 + 2 * 0.9 * 1000 + 0.288, 1e-9);
}

TEST(Roofline, AboveTheFp32PeakTheNarrowRoofCounts) {
  MachineRoofs roofs{0, 1000, 4};
  const Roofline roofline = make_roofline(model(), roofs, load(), 4, {});
  EXPECT_NEAR(roofline.points[0].roof, 4000, 1e-9);
  EXPECT_LT(roofline.points[0].saturation, 1);
  EXPECT_THAT(roofline.points[0].note, testing::HasSubstr("above the fp32 peak"));
}

TEST(Roofline, AboveTheBandwidthStaysAndSaysSo) {
  const RoofPoint memory = make_roofline(model(), {50, 0}, load(), 4, {}).points[0];
  EXPECT_GT(memory.saturation, 1);
  EXPECT_FALSE(memory.open());
  EXPECT_THAT(memory.note, testing::HasSubstr("above the measured bandwidth"));
}

TEST(Roofline, SharesOfTimeOpenHostAndCommunication) {
  KernelTable table;
  table.rows = {{"gemm", "a", 0.6, "matmul"}};
  table.kernel_share = 0.6;
  table.barrier_share = 0.2;
  table.host_share = 0.2;
  const Roofline roofline = make_roofline(model(), {100, 0}, load(), 4, table);
  EXPECT_NEAR(find(roofline, Direction::Host)->saturation, 0.75, 1e-12);
  EXPECT_NEAR(find(roofline, Direction::Communication)->saturation, 0.8, 1e-12);
  EXPECT_EQ(roofline.bound, "memory");
  table.kernel_share = 0;   // no pattern knew a kernel
  EXPECT_EQ(find(make_roofline(model(), {100, 0}, load(), 4, table), Direction::Host), nullptr);
}

TEST(Roofline, NothingServedOrMeasuredGivesNoPointAndNoCeiling) {
  for (const Roofline& r : {make_roofline(model(), {100, 100}, LoadSummary{}, 4, {}), make_roofline(model(), {}, load(), 4, {}),
                            make_roofline(ModelFacts{}, {100, 100}, load(), 4, {})}) {
    EXPECT_TRUE(r.points.empty());
    EXPECT_EQ(r.bound, "");
    EXPECT_EQ(r.gain_ceiling, 0);
  }
}

// The bound must hold for a configuration that no machine could beat: 2-bit weights wholly in cache, all clients in
// one step, drafts accepted, narrow multipliers at their peak, prompts free.
TEST(Ceiling, IsAboveTheBestThatTheRoofsAllow) {
  const MachineRoofs roofs{100, 1000, 4};
  const Roofline stock = make_roofline(model(), roofs, load(), 1, {});
  const double compute_best = roofs.peak_gflop_s * 1e9 * roofs.narrow_factor / 2e9;   // tokens/s
  EXPECT_NEAR(stock.gain_ceiling, compute_best / 200, 1e-9);
  EXPECT_GT(stock.gain_ceiling, 8);   // slots = clients alone could give 8
}

TEST(Ceiling, SlowerStockLeavesMoreRoom) {
  LoadSummary slow = load();
  slow.output_tok_s /= 2;
  slow.total_tok_s /= 2;
  slow.requests_s /= 2;
  slow.e2e_ms.mean *= 2;
  EXPECT_NEAR(make_roofline(model(), {100, 1000}, slow, 1, {}).gain_ceiling,
              2 * make_roofline(model(), {100, 1000}, load(), 1, {}).gain_ceiling, 1e-9);
}

TEST(Ceiling, MemoryBindsWhereMultipliersAbound) {
  const Roofline roofline = make_roofline(model(), {1, 1e9}, load(), 1, {});
  // 1 GB/s x 4 / (1e9 x 1.5 / 8) steps/s x 10 sequences x 64 tokens / 200 tok/s
  EXPECT_NEAR(roofline.gain_ceiling, 4e9 / 0.1875e9 * 10 * 64 / 200, 1e-9);
}

TEST(Ceiling, RoofsOfOtherProcessorsBoundNothing) {
  EXPECT_EQ(make_roofline(model(), {0, 1, 4}, load(), 1, {}).gain_ceiling, 0);
}

TEST(Ceiling, ExpertsThatAStepSkipsDoNotCount) {
  ModelFacts experts = model();
  experts.step_bytes /= 10;
  EXPECT_NEAR(make_roofline(experts, {0, 1000, 4}, load(), 1, {}).gain_ceiling,
              10 * make_roofline(model(), {0, 1000, 4}, load(), 1, {}).gain_ceiling, 1e-9);
}

TEST(NarrowFactor, ByInstructionSets) {
  EXPECT_EQ(narrow_factor({"amx_int8", "avx512_vnni"}), 32);
  EXPECT_EQ(narrow_factor({"avx2", "avx512_vnni"}), 4);
  EXPECT_EQ(narrow_factor({"asimddp", "i8mm"}), 8);
  EXPECT_EQ(narrow_factor({}), 32);
}

TEST(RooflineJson, RoundTripAndUnknownDirection) {
  const Json json = make_roofline(model(), {100, 1000}, load(), 4, {});
  EXPECT_EQ(Json(json.get<Roofline>()), json);
  EXPECT_THROW((Json{{"points", {{{"direction", "magic"}}}}}.get<Roofline>()), Error);
}

}  // namespace
}  // namespace hyperloom
