#include "profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace hyperloom {
namespace {

Pack pack() {
  Pack pack;
  pack.name = "test";
  pack.kernel_symbols = {"matmul=vec_dot|mul_mat|gemm", "attention=flash_attn", "rms_norm|rope"};
  pack.barrier_symbols = {"barrier", "libgomp", "futex"};
  return pack;
}

const KernelRow* row(const KernelTable& table, const std::string& symbol) {
  for (const KernelRow& row : table.rows) {
    if (row.symbol == symbol) return &row;
  }
  return nullptr;
}

TEST(PerfReport, ReadsARealReportOfADecodingServer) {
  const KernelTable table =
      table_from_perf_script(pack(), read_file(HYPERLOOM_CASES "/profile/llama-decode.perf.txt"));
  EXPECT_EQ(table.source, "perf");
  EXPECT_EQ(table.samples, 1187);
  EXPECT_EQ(table.rows[0].symbol, "ggml_vec_dot_q4_1_q8_1");
  EXPECT_EQ(table.rows[0].module, "libggml-cpu.so.0.23.0");
  EXPECT_NEAR(table.rows[0].share, 667 / 1187.0, 1e-12);
  EXPECT_EQ(table.rows[1].symbol,
            "(anonymous namespace)::tinyBLAS_Q0_AVX<block_q8_0, block_q8_0, float>::gemm4xN<2>");
  EXPECT_EQ(table.rows[1].group, "matmul");
  EXPECT_EQ(row(table, "ggml_compute_forward_flash_attn_ext")->group, "attention");
  EXPECT_EQ(row(table, "ggml_compute_forward_rms_norm_mul_fused")->group, "kernel");   // a pattern without a name
  EXPECT_EQ(row(table, "common_sampler_sample")->group, "other");
  EXPECT_NEAR(table.kernel_share + table.barrier_share + table.host_share, 1, 1e-12);
  EXPECT_GT(table.kernel_share, 0.85);
}

TEST(PerfReport, StrippedRuntimeIsOneRowFoundByItsModule) {
  const KernelTable table =
      table_from_perf_script(pack(), read_file(HYPERLOOM_CASES "/profile/llama-decode.perf.txt"));
  const KernelRow* unnamed = row(table, "(no symbols)");
  ASSERT_NE(unnamed, nullptr);
  EXPECT_EQ(unnamed->module, "libgomp.so.1.0.0");
  EXPECT_EQ(unnamed->group, "barrier");
  EXPECT_GE(unnamed->share, 61 / 1187.0 - 1e-9);
}

TEST(PerfReport, ASymbolDecidesBeforeItsModule) {
  const KernelTable table = table_from_perf_script(pack(), " 3 |[.] gemm |libgomp.so \n 1|[.] main|app\n");
  EXPECT_EQ(table.rows[0].group, "matmul");
  EXPECT_DOUBLE_EQ(table.host_share, 0.25);
}

TEST(PerfReport, JunkIsNoSample) {
  const KernelTable table = table_from_perf_script(
      pack(), "# Samples: 1K\nWARNING: 12 lost\n12 chunks\n1e9|x|y\n|a|b\n-4|[.] a|b\n0|[.] a|b\n99999999999999999999|a|b\n");
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.samples, 0);
  EXPECT_EQ(table.source, "none: perf took no samples");
}

TEST(PerfReport, ABadPatternIsNamed) {
  Pack broken = pack();
  broken.kernel_symbols = {"matmul=("};
  try {
    table_from_perf_script(broken, "1|[.] a|b\n");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("kernel_symbols: `(`"));
  }
}

TEST(KernelTableJson, RoundTrip) {
  const KernelTable table = table_from_perf_script(pack(), "3|[.] gemm|a.so\n1|[k] futex_wait|[kernel.kallsyms]\n");
  const Json json = table;
  const KernelTable again = json.get<KernelTable>();
  EXPECT_EQ(Json(again), json);
  EXPECT_DOUBLE_EQ(again.barrier_share, 0.25);
}

TEST(ProfileProcess, AGoneProcessGivesAnEmptyTableWithTheReason) {
  const TempDir folder;
  for (const int pid : {0, 0x3ffffff0}) {
    const KernelTable table = profile_process(pack(), pid, 0.1, folder.path());
    EXPECT_TRUE(table.rows.empty());
    EXPECT_THAT(table.source, testing::StartsWith("none: "));
    EXPECT_GT(table.source.size(), 8u);
  }
}

// Where perf works, a spinning child shows up; where it does not, the table says why.
TEST(ProfileProcess, SamplesASpinningChildOrSaysWhyNot) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) asm volatile("");
  }
  const TempDir folder;
  const KernelTable table = profile_process(pack(), child, 0.3, folder.path());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (table.rows.empty()) {
    EXPECT_THAT(table.source, testing::StartsWith("none: "));
  } else {
    EXPECT_THAT(table.source, testing::StartsWith("perf"));
    EXPECT_GT(table.samples, 0);
  }
  EXPECT_FALSE(fs::exists(folder.path() / "perf.data"));
}

}  // namespace
}  // namespace hyperloom
