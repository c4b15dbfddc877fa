#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "kernel/backend.h"
#include "kernel/bundle.h"
#include "kernel/forge_order.h"
#include "kernel/result.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BuildRecipe recipe(const std::string& id, std::vector<std::string> configure) {
  BuildRecipe made;
  made.id = id;
  made.role = "tune";
  made.configure = std::move(configure);
  return made;
}

std::vector<std::string> ids(const ForgeOrder& order) {
  std::vector<std::string> ids;
  for (const BuildOffer& offer : order.offers) ids.push_back(offer.recipe);
  return ids;
}

ForgeView example() {
  ForgeView view;
  view.current = recipe("now", {"-DX_AVX512=ON"});
  view.recipes = {recipe("threads", {"-DX_AVX512=ON", "-DX_OPENMP=OFF"}),
                  recipe("repack", {"-DX_AVX512=ON", "-DX_REPACK:BOOL=ON"}),
                  recipe("clang", {"-DX_AVX512=ON", "-DCMAKE_C_COMPILER=clang-19",
                                   "-DCMAKE_CXX_COMPILER=clang++-19"})};
  view.toolchain.programs = {{"clang-19", "/usr/bin/clang-19", "19"},
                             {"clang++-19", "/usr/bin/clang++-19", "19"}};
  view.kernels.samples = 1000;
  view.kernels.rows = {{"dot", "lib", 0.6, "matmul"}, {"softmax", "lib", 0.1, "attention"}};
  view.kernels.kernel_share = 0.7;
  view.kernels.barrier_share = 0.25;
  view.kernels.host_share = 0.05;
  return view;
}

TEST(ForgeOrder, puts_the_largest_expected_gain_first) {
  const ForgeOrder order = order_builds(example());
  EXPECT_THAT(ids(order), ElementsAre("repack", "threads", "clang"));
  EXPECT_GT(order.offers[0].expected_log, order.offers[1].expected_log);
  EXPECT_THAT(order.offers[0].why, HasSubstr("60 % of the time"));
}

TEST(ForgeOrder, another_compiler_waits_for_it_rebuilds_everything) {
  ForgeView view = example();
  view.kernels.rows[0].share = 0.2;   // now the compiler's expected gain is the largest, but not per build time
  EXPECT_EQ(ids(order_builds(view)).back(), "clang");
}

TEST(ForgeOrder, measured_shares_drop_what_cannot_pay) {
  ForgeView view = example();
  view.kernels.barrier_share = 0.02;
  view.kernels.rows[0].share = 0.05;
  const ForgeOrder order = order_builds(view);
  EXPECT_THAT(ids(order), ElementsAre("clang"));
  EXPECT_THAT(order.dropped, ElementsAre(HasSubstr("2 % of the time is in barriers"),
                                         HasSubstr("5 % of the time is in matrix kernels")));
}

TEST(ForgeOrder, without_a_profile_nothing_is_dropped_for_its_share) {
  ForgeView view = example();
  view.kernels = {};
  EXPECT_EQ(ids(order_builds(view)).size(), 3u);
}

TEST(ForgeOrder, drops_current_failed_and_unbuildable) {
  ForgeView view = example();
  view.recipes.push_back(view.current);
  view.recipes.push_back(recipe("blas", {"-DX_BLAS=ON", "-DX_BLAS_VENDOR=OpenBLAS"}));
  view.failed = {"repack"};
  view.toolchain.programs.clear();
  EXPECT_THAT(ids(order_builds(view)), ElementsAre("threads"));
  view.toolchain.libraries = {{"openblas", "", "0.3.21"}};
  EXPECT_THAT(ids(order_builds(view)), testing::Contains("blas"));
}

class ForgeTest : public testing::Test {
 protected:
  ForgeTest() {
    const ForgeView view = example();
    pack_.builds = view.recipes;
    pack_.builds.push_back(view.current);
    task_.task_id = "K1";
    task_.nonce = "n1";
    task_.lane = "tune";
    task_.pack = &pack_;
    task_.kernels = view.kernels;
    task_.current_build = "now";
    make_folders(out());
  }
  ~ForgeTest() override { remove_tree(bundle()); }
  fs::path bundle() const { return dir_.path() / "bundle"; }
  fs::path out() const { return dir_.path() / "out"; }
  int forge(double deadline_unix_s = 4e9) {
    remove_tree(bundle());
    write_bundle(bundle(), task_, {}, deadline_unix_s, example().toolchain);
    return forge_main(bundle(), out());
  }

  TempDir dir_;
  Pack pack_;
  KernelTask task_;
};

TEST_F(ForgeTest, writes_a_result_that_the_parent_takes) {
  ASSERT_EQ(forge(), 0);
  ResultRules rules;
  rules.task_id = "K1";
  rules.nonce = "n1";
  rules.recipes = {"threads", "repack", "clang"};
  rules.current_build = "now";
  const BackendOutcome got = read_result(out(), rules, {});
  EXPECT_EQ(got.status, "candidates") << got.reason;
  ASSERT_EQ(got.claims.size(), 3u);
  EXPECT_EQ(got.claims[0].value, "repack");
  EXPECT_THAT(got.rejected, testing::IsEmpty());
}

TEST_F(ForgeTest, exit_codes_of_the_contract) {
  EXPECT_EQ(forge(0), 4);
  task_.lane = "fuse";
  EXPECT_EQ(forge(), 2);
  task_.lane = "tune";
  EXPECT_EQ(forge_main(dir_.path() / "nowhere", out()), 2);
  EXPECT_FALSE(fs::exists(out() / "result.json"));
  write_bundle(dir_.path() / "b2", task_, {}, 4e9, {});
  write_file(dir_.path() / "file", "");
  EXPECT_EQ(forge_main(dir_.path() / "b2", dir_.path() / "file"), 3);
  fs::permissions(dir_.path() / "b2", fs::perms::owner_all);
  fs::permissions(dir_.path() / "b2" / "task.json", fs::perms::owner_all);
  write_file(dir_.path() / "b2" / "task.json", "{}");
  EXPECT_EQ(forge_main(dir_.path() / "b2", out()), 2);
  remove_tree(dir_.path() / "b2");
}

TEST_F(ForgeTest, nothing_left_to_try_is_an_honest_no) {
  task_.failed_builds = {"threads", "repack", "clang"};
  ASSERT_EQ(forge(), 0);
  const Json result = Json::parse(read_file(out() / "result.json"));
  EXPECT_EQ(result["status"], "no_candidate");
  EXPECT_THAT(result["reason"].get<std::string>(), HasSubstr("repack: is known not to work here"));
}

TEST(Forge, says_what_it_can) {
  const Json capabilities = Json::parse(forge_capabilities());
  EXPECT_EQ(capabilities["protocol_versions"], Json::array({1}));
  EXPECT_EQ(capabilities["lanes"], Json::array({"tune"}));
}

}  // namespace
}  // namespace hyperloom
