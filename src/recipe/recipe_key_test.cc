#include "recipe/recipe_key.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace hyperloom {
namespace {

RecipeKey key() {
  return {.model = "m", .hardware = "amd|EPYC|1|avx2 avx512f|2", .framework = "f", .model_type = "t", .architecture = "a",
          .framework_version = "0.8.3 abc", .precision = "p", .workload_class = "closed|3|6|5|output_tok_s", .build_hash = "b"};
}

std::string between(std::string RecipeKey::*column, const std::string& asked, const std::string& stored) {
  RecipeKey a = key(), b = key();
  a.*column = asked;
  b.*column = stored;
  const auto relaxation = relaxation_between(a, b);
  return !relaxation ? "none" : *relaxation->name ? relaxation->name : "exact";
}

TEST(RecipeKey, IdIsTheHashOfCanonicalJson) {
  EXPECT_EQ(RecipeKey{}.id(),
            sha256_hex(R"({"architecture":"","build_hash":"","framework":"","framework_version":"","hardware":"","key_version":1,)"
                       R"("model":"","model_type":"","precision":"","workload_class":""})"));
  RecipeKey other = key();
  other.build_hash = "c";
  EXPECT_NE(other.id(), key().id());
}

TEST(RecipeKey, Versions) {
  const auto version = [](const char* a, const char* b) { return between(&RecipeKey::framework_version, a, b); };
  EXPECT_EQ(version("0.8.3 abc", "0.8.3 abc"), "exact");
  EXPECT_EQ(version("0.8.3 abc", "0.8.3 def"), "patch version");
  EXPECT_EQ(version("v0.8.3", "0.8.12"), "patch version");
  EXPECT_EQ(version("0.8.3", "0.9.3"), "minor version");
  EXPECT_EQ(version("0.8.3", "1.8.3"), "none");
  EXPECT_EQ(version("b9135", "b9200"), "minor version");
  EXPECT_EQ(version("b9135 x", "b9135 y"), "patch version");
  EXPECT_EQ(version("b9135", "0.9135"), "none");
  EXPECT_EQ(version("", "0.8.3"), "none");
  EXPECT_EQ(version("main", "dev"), "none");
}

TEST(RecipeKey, WorkloadsOneBucketApart) {
  const auto workload = [](const char* b) { return between(&RecipeKey::workload_class, "closed|3|6|5|output_tok_s", b); };
  EXPECT_EQ(workload("closed|4|5|5|output_tok_s"), "workload bucket");
  EXPECT_EQ(workload("closed|5|6|5|output_tok_s"), "none");
  EXPECT_EQ(workload("closed|-|6|5|output_tok_s"), "none");
  EXPECT_EQ(workload("poisson|3|6|5|output_tok_s"), "none");
  EXPECT_EQ(workload("closed|3|6|5|ttft"), "none");
  EXPECT_EQ(workload("junk"), "none");
}

TEST(RecipeKey, HardwareWithTheSameInstructionSets) {
  const auto hardware = [](const char* b) { return between(&RecipeKey::hardware, "amd|EPYC|1|avx2 avx512f|2", b); };
  EXPECT_EQ(hardware("intel|Xeon|2|avx2 avx512f|64"), "hardware");
  EXPECT_EQ(hardware("amd|EPYC|1|avx2|2"), "none");
  EXPECT_EQ(hardware("odd"), "none");
}

TEST(RecipeKey, TextsOfMachineAndWorkload) {
  MachineFacts machine;
  machine.cpu_vendor = "AuthenticAMD";
  machine.cpu_name = "EPYC | 9";
  machine.cores = 2;
  machine.cpu_flags = {"avx2", "fma", "hypervisor"};
  EXPECT_EQ(hardware_text(machine), "AuthenticAMD|EPYC / 9|1|fma avx2|2");
  machine.gpus = {{"NVIDIA", "H200", 140}, {"NVIDIA", "H200", 140}};
  EXPECT_EQ(hardware_text(machine), "NVIDIA|H200|2|fma avx2|2");
  Workload workload;
  workload.traffic.clients = 8;
  workload.traffic.prompt_tokens.mean = 90;
  workload.traffic.output_tokens.mean = 64;
  EXPECT_EQ(workload_class_text(workload), "closed|3|6|6|output_tok_s");
  workload.traffic.kind = Traffic::Kind::Open;
  workload.traffic.rate_rps = 0.3;
  EXPECT_EQ(workload_class_text(workload), "poisson|-2|6|6|output_tok_s");
}

}  // namespace
}  // namespace hyperloom
