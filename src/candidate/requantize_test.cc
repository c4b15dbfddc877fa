// A shell line stands for the engine's tool: what is tested is which of its files are trusted, and for how long.
#include "candidate/requantize.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "candidate/variable_for_test.h"

namespace hyperloom {
namespace {

template <typename T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string text(const std::string& value) { return raw<uint64_t>(value.size()) + value; }
std::string number(const std::string& key, uint32_t value) { return text(key) + raw<uint32_t>(4) + raw(value); }

// One F16 tensor of 64 x 10.
std::string small_model() {
  std::string bytes = "GGUF" + raw<uint32_t>(3) + raw<uint64_t>(1) + raw<uint64_t>(6);
  bytes += text("general.architecture") + raw<uint32_t>(8) + text("llama");
  bytes += number("llama.block_count", 1) + number("llama.embedding_length", 64) + number("llama.context_length", 512);
  bytes += number("llama.attention.head_count", 4) + number("llama.attention.head_count_kv", 2);
  bytes += text("token_embd.weight") + raw<uint32_t>(2) + raw<uint64_t>(64) + raw<uint64_t>(10) + raw<uint32_t>(1) + raw<uint64_t>(0);
  bytes.resize((bytes.size() + 31) / 32 * 32);
  return bytes + std::string(1280, '\1');
}

class Requantize : public testing::Test {
 protected:
  Requantize() {
    write_file(model_, small_model());
    tool("cp \"$1\" \"$2\"");
  }
  void tool(const std::string& line) { pack_.requantize = ToolCommand{{"sh", "-c", line, "tool", "${model}", "${out}"}, {}}; }
  RequantizeResult make() { return requantize(pack_, folder_.path(), model_, std::string(64, 'a'), "Q8_0", 30); }

  const TempDir folder_;
  const Variable cache_{"HYPERLOOM_CACHE", (folder_.path() / "cache").string()};
  const fs::path model_ = folder_.path() / "m.gguf";
  Pack pack_;
};

TEST_F(Requantize, AWholeFileIsUsedAgain) {
  const RequantizeResult made = make();
  ASSERT_TRUE(made.ok) << made.error;
  EXPECT_EQ(made.bytes, fs::file_size(model_));
  tool("exit 1");
  EXPECT_TRUE(make().ok);
}

TEST_F(Requantize, ADamagedFileOfTheCacheIsMadeAnew) {
  const RequantizeResult made = make();
  fs::resize_file(made.model, 100);
  tool("exit 1");
  EXPECT_FALSE(make().ok);
  tool("cp \"$1\" \"$2\"");
  ASSERT_TRUE(make().ok);
  EXPECT_EQ(read_file(made.model), small_model());
}

TEST_F(Requantize, AFileThatCannotBeReplacedIsNamedWithItsMend) {
  const RequantizeResult made = make();
  fs::remove(made.model);
  make_folders(made.model / "inside");
  const RequantizeResult failed = make();
  EXPECT_TRUE(!failed.ok && failed.out_of_time);
  EXPECT_NE(failed.error.find("HYPERLOOM_CACHE"), std::string::npos) << failed.error;
}

TEST_F(Requantize, OnlyTheToolsOwnFailureIsEvidence) {
  tool("echo 'write: No space left on device'; exit 1");
  const RequantizeResult full = make();
  EXPECT_TRUE(!full.ok && full.out_of_time) << full.error;
  EXPECT_NE(full.error.find("HYPERLOOM_CACHE"), std::string::npos) << full.error;
  tool("head -c 100 \"$1\" > \"$2\"");
  const RequantizeResult cut = make();
  EXPECT_TRUE(!cut.ok && !cut.out_of_time) << cut.error;
  for (const auto& entry : fs::directory_iterator(folder_.path() / "cache" / "models" / "requantized"))
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
}

}  // namespace
}  // namespace hyperloom
