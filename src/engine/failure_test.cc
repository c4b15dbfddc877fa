#include "engine/failure.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/files.h"

namespace hyperloom {
namespace {

const Pack& pack() {
  static const Pack loaded = load_pack("custom");   // no patterns of its own: the common table alone
  return loaded;
}

std::string case_log(const std::string& name) { return read_file(fs::path(HYPERLOOM_CASES) / name); }

ExitStatus exit_code(int code) { return ExitStatus{code, 0, 0, 0}; }
ExitStatus killed_by(int signal) { return ExitStatus{0, signal, 0, 0}; }

struct LogCase { const char* file; const char* phase; const char* failure_class; const char* evidence; };

class CaseLogs : public testing::TestWithParam<LogCase> {};

TEST_P(CaseLogs, AreTold) {
  const LogCase& c = GetParam();
  const Failure failure = classify(pack(), c.phase, exit_code(1), case_log(c.file));
  EXPECT_EQ(failure.failure_class, c.failure_class) << failure.text();
  EXPECT_NE(failure.line.find(c.evidence), std::string::npos) << failure.text();
}

INSTANTIATE_TEST_SUITE_P(
    Public, CaseLogs,
    testing::Values(
        LogCase{"c06-oom-graph-capture.log", "launch", "oom_graph_capture", "136.00 MiB"},
        LogCase{"c06-oom-weights.log", "launch", "oom_weights", "448.00 MiB"},
        LogCase{"c06-oom-serving.log", "serving", "oom_after_ready", "HIP out of memory"},
        LogCase{"d05-fraction-0.84.log", "launch", "memory_share_too_low", "mem-fraction-static"},
        LogCase{"d05-fraction-0.85.log", "launch", "oom_draft_model", "out of memory"},
        LogCase{"d05-negative-pool.log", "launch", "memory_share_too_low", "-561981"},
        LogCase{"e01-wrapper-last.log", "launch", "shape_not_divisible", "18944"},
        LogCase{"e02-unknown-model-type.log", "launch", "unsupported_architecture", "demo_next"},
        LogCase{"e02-unsupported-arch.log", "launch", "unsupported_architecture", "DemoNextForCausalLM"},
        LogCase{"e02-keyerror-architectures.log", "launch", "bad_model_config", "'architectures'"},
        LogCase{"e02-remote-code.log", "launch", "needs_trust_remote_code", "custom code"},
        LogCase{"e02-weights-keyerror.log", "launch", "checkpoint_mismatch", "w13_weight_scale"},
        LogCase{"e04-gated.log", "launch", "gated_repo", "401"},
        LogCase{"e04-forbidden.log", "launch", "gated_repo", "403"},
        LogCase{"e04-no-tokenizer.log", "launch", "tokenizer_missing", "/models/demo"},
        LogCase{"e04-hub-rate-limit.log", "launch", "download_rate_limited", "429"},
        LogCase{"e05-masked-import.log", "launch", "missing_library", "libdemo_comm.so.1"},
        LogCase{"e05-module.log", "launch", "missing_module", "aiter"},
        LogCase{"e07-ansi-and-progress.log", "launch", "out_of_memory", "1.00 GiB"}));

TEST(Failure, WordsOfUnsupportedValues) {
  const auto told = [](const std::string& log) { return classify(pack(), "launch", exit_code(1), log).failure_class; };
  EXPECT_EQ(told("ValueError: Selected backend DEMO_ATTN is not valid for this configuration. Reason: "
                 "['kv_cache_dtype not supported']"), "unsupported_kv_dtype");
  EXPECT_EQ(told("RuntimeError: Unsupported block size: 128"), "unsupported_block_size");
  EXPECT_EQ(told("RuntimeError: Paged KV cache block size must be divisible by 128"), "unsupported_block_size");
  EXPECT_EQ(told("INFO Using FLASHINFER attention backend\nERROR ValueError: To serve at least one request with max seq len "
                 "100352, 5.10 GiB KV cache is needed, larger than the available 4.70 GiB"), "kv_cache_does_not_fit");
}

TEST(Failure, OnlyWrappersIsUnknown) {
  const Failure failure = classify(pack(), "launch", exit_code(1),
                                   "ERROR EngineCore failed to start.\n"
                                   "RuntimeError: Engine core initialization failed. See root cause above.\n");
  EXPECT_EQ(failure.failure_class, "unknown");
}

TEST(Failure, TheFirstCauseWinsOverLaterOnes) {
  const Failure failure = classify(pack(), "launch", exit_code(1),
                                   "libfoo.so.2: cannot open shared object file\nCUDA out of memory\n");
  EXPECT_EQ(failure.failure_class, "missing_library");
}

TEST(Failure, AWarningIsNoCause) {
  const Failure failure = classify(pack(), "launch", exit_code(1),
                                   "WARNING: mlock failed: Cannot allocate memory\nERROR: invalid argument: --x\n");
  EXPECT_EQ(failure.failure_class, "bad_flag");
}

TEST(Failure, BySignal) {
  EXPECT_EQ(classify(pack(), "launch", killed_by(SIGILL), "CUDA out of memory").failure_class, "illegal_instruction");
  EXPECT_EQ(classify(pack(), "launch", killed_by(SIGILL), "").rung, "rebuild");
  EXPECT_EQ(classify(pack(), "launch", killed_by(SIGSEGV), "loading").failure_class, "crashed");
  EXPECT_EQ(classify(pack(), "launch", killed_by(SIGKILL), "loading").failure_class, "out_of_memory");
  EXPECT_EQ(classify(pack(), "launch", exit_code(127), "").failure_class, "missing_library");
  EXPECT_EQ(classify(pack(), "launch", exit_code(3), "odd words").failure_class, "unknown");
  EXPECT_EQ(classify(pack(), "launch", std::nullopt, "still loading").failure_class, "never_ready");
}

// An instruction that traps on several threads at once ends as a segmentation fault: the pack's move is the same.
TEST(Failure, APackKnowsABareSignal) {
  const Pack llama = load_pack("llama.cpp");
  const Failure failure = classify(llama, "launch", killed_by(SIGSEGV), "llama threadpool init, n_threads = 8\n");
  EXPECT_EQ(failure.id, "sigsegv");
  EXPECT_EQ(failure.rung, "rebuild");
  EXPECT_EQ(failure.line, "SIGSEGV after: llama threadpool init, n_threads = 8");
  EXPECT_EQ(classify(llama, "launch", killed_by(SIGSEGV), "GGML_ASSERT(x) failed\n").id, "assertion");
  EXPECT_EQ(classify(llama, "serve", killed_by(SIGSEGV), "serving\n").id, "crashed");
}

TEST(Failure, SignatureIgnoresNumbersAndTellsProgress) {
  const auto signature = [](const std::string& log) { return classify(pack(), "launch", exit_code(1), log).signature(); };
  EXPECT_EQ(signature("CUDA out of memory. Tried 136 MiB at 0xdeadbeef"),
            signature("CUDA out of memory. Tried 99 MiB at 0x12"));
  EXPECT_NE(signature("CUDA out of memory"), signature("error: unknown argument: --x"));
}

TEST(Failure, SecretsAreMasked) {
  const Failure failure = classify(pack(), "launch", exit_code(1),
                                   "403 Client Error: for url: https://x.invalid/a?token=abcdefghijklmnop&b hf_ABCDEFGHIJKLMNOP");
  EXPECT_EQ(failure.line.find("abcdefghijklmnop"), std::string::npos) << failure.line;
  EXPECT_EQ(failure.line.find("ABCDEFGHIJKLMNOP"), std::string::npos) << failure.line;
}

TEST(Failure, HugeLogsAreRead) {
  std::string log;
  for (int i = 0; i < 20000; ++i) log += "step " + std::to_string(i) + " of many\n";
  EXPECT_EQ(classify(pack(), "launch", exit_code(1), log + "ModuleNotFoundError: No module named 'x'\n").failure_class,
            "missing_module");
  EXPECT_EQ(classify(pack(), "launch", exit_code(1), std::string(1 << 20, 'x')).failure_class, "unknown");
}

}  // namespace
}  // namespace hyperloom
