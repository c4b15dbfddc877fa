#include "engine/model_facts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "engine/gguf.h"

namespace hyperloom {
namespace {

template <typename T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string str(const std::string& text) { return raw<uint64_t>(text.size()) + text; }
std::string text_entry(const std::string& key, const std::string& value) { return str(key) + raw<uint32_t>(8) + str(value); }
std::string int_entry(const std::string& key, uint32_t value) { return str(key) + raw<uint32_t>(4) + raw(value); }
std::string tensor(const std::string& name, std::vector<uint64_t> shape, uint32_t type, uint64_t offset) {
  std::string bytes = str(name) + raw(static_cast<uint32_t>(shape.size()));
  for (const uint64_t length : shape) bytes += raw(length);
  return bytes + raw(type) + raw(offset);
}

// Two layers, 4 heads, 2 KV heads, width 64; embedding F16 64x10 and one Q4_1 matrix 64x64.
std::string model(bool own_output = false, uint32_t version = 3, const std::string& extra = "", uint64_t extras = 0) {
  std::string head = "GGUF" + raw(version) + raw<uint64_t>(own_output ? 3 : 2) + raw<uint64_t>(8 + extras);
  head += text_entry("general.architecture", "llama") + text_entry("general.name", "Tiny");
  head += int_entry("llama.block_count", 2) + int_entry("llama.embedding_length", 64);
  head += int_entry("llama.attention.head_count", 4) + int_entry("llama.attention.head_count_kv", 2);
  head += int_entry("llama.context_length", 512);
  head += str("tokenizer.ggml.tokens") + raw<uint32_t>(9) + raw<uint32_t>(8) + raw<uint64_t>(2) + str("a") + str("bc");
  head += extra;
  head += tensor("token_embd.weight", {64, 10}, 1, 0) + tensor("blk.0.ffn_up.weight", {64, 64}, 3, 1280);
  if (own_output) head += tensor("output.weight", {64, 10}, 1, 3840);
  while (head.size() % 32 != 0) head += '\0';
  return head + std::string(own_output ? 5120 : 3840, '\1');
}

ModelFacts read(const std::string& bytes) {
  const TempDir folder;
  write_file(folder.path() / "m.gguf", bytes);
  return read_gguf(folder.path() / "m.gguf");
}

std::string error_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_FALSE(error.mend().empty());
    return error.what();
  }
  return "no error";
}

TEST(ModelFacts, ReadsAModel) {
  for (const uint32_t version : {2u, 3u}) {
    const ModelFacts facts = read(model(false, version));
    EXPECT_EQ(facts.name, "Tiny");
    EXPECT_EQ(facts.architecture, "llama");
    EXPECT_EQ(facts.weights_type, "Q4_1");
    EXPECT_EQ(facts.layers, 2);
    EXPECT_EQ(facts.heads, 4);
    EXPECT_EQ(facts.kv_heads, 2);
    EXPECT_EQ(facts.head_dim, 16);
    EXPECT_EQ(facts.vocabulary, 2);
    EXPECT_EQ(facts.context, 512);
    EXPECT_EQ(facts.parameters, 640u + 4096u);
    EXPECT_EQ(facts.bytes, 1280u + 2560u);
    EXPECT_EQ(facts.step_bytes, 3840u);                      // tied: the table is read whole, as output
    EXPECT_EQ(facts.kv_bytes_per_token, 2u * 2 * 16 * 2 * 2);  // layers x heads x dim x (K and V) x 2 bytes
    EXPECT_EQ(facts.sha256.size(), 64u);
  }
}

TEST(ModelFacts, OwnOutputMatrixLeavesTheEmbeddingOut) {
  EXPECT_EQ(read(model(true)).step_bytes, 2560u + 1280u);
}

TEST(ModelFacts, ExpertsAreReadByShare) {
  const std::string extra = int_entry("llama.expert_count", 8) + int_entry("llama.expert_used_count", 2);
  std::string bytes = model(false, 3, extra, 2);
  const std::string dense = "blk.0.ffn_up.weight";
  bytes.replace(bytes.find(dense), dense.size(), "b.0.up_exps.weight1");
  EXPECT_EQ(read(bytes).step_bytes, 1280u + 2560u / 4);
}

TEST(ModelFacts, MissingFileAndFolder) {
  EXPECT_THROW(read_gguf("/no/such/model.gguf"), Error);
  EXPECT_THROW(read_gguf("/"), Error);
}

TEST(ModelFacts, CutInTheDataSaysHowMuchIsMissing) {
  const std::string bytes = model();
  EXPECT_NE(error_of(bytes.substr(0, bytes.size() - 7)).find("7 bytes are missing"), std::string::npos);
  EXPECT_NE(error_of(bytes.substr(0, bytes.size() - 3840)).find("3840 bytes are missing"), std::string::npos);
}

TEST(ModelFacts, CutAnywhereIsAnErrorNotACrash) {
  const std::string bytes = model();
  for (size_t length = 0; length < bytes.size(); length += length < 800 ? 1 : 97) {
    std::istringstream stream(bytes.substr(0, length));
    try {
      parse_gguf(stream, length, "m");
      ADD_FAILURE() << "accepted " << length << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput) << error.what();
    }
  }
}

TEST(ModelFacts, HugeCountsAllocateNothing) {
  const uint64_t huge = ~uint64_t{0};
  const std::string start = "GGUF" + raw<uint32_t>(3);
  EXPECT_NE(error_of(start + raw(huge) + raw<uint64_t>(0)).find("tensor index"), std::string::npos);
  EXPECT_NE(error_of(start + raw<uint64_t>(0) + raw(huge)).find("metadata"), std::string::npos);
  EXPECT_NE(error_of(start + raw<uint64_t>(0) + raw<uint64_t>(1) + raw(huge)).find("metadata"), std::string::npos);
  for (const uint32_t type : {4u, 8u, 10u}) {
    const std::string array = str("k") + raw<uint32_t>(9) + raw(type) + raw<uint64_t>(huge / 8) + std::string(64, 'x');
    EXPECT_NE(error_of(start + raw<uint64_t>(0) + raw<uint64_t>(1) + array).find("`k`"), std::string::npos);
  }
  const std::string wide = start + raw<uint64_t>(1) + raw<uint64_t>(0) + tensor("t", {huge, huge, huge}, 0, 0);
  EXPECT_NE(error_of(wide).find("absurdly large"), std::string::npos);
}

TEST(ModelFacts, OtherFilesAreToldApart) {
  EXPECT_NE(error_of("").find("is empty"), std::string::npos);
  EXPECT_NE(error_of("PK\3\4 something else").find("no GGUF"), std::string::npos);
  EXPECT_NE(error_of("GGUF" + raw<uint32_t>(1) + std::string(16, '\0')).find("version 1"), std::string::npos);
  EXPECT_NE(error_of("GGUF" + raw<uint32_t>(0x03000000) + std::string(16, '\0')).find("big-endian"), std::string::npos);
  EXPECT_NE(error_of("GGUF" + raw<uint32_t>(3) + std::string(16, '\0')).find("holds no model"), std::string::npos);
  const std::string split = int_entry("split.count", 3);
  EXPECT_NE(error_of(model(false, 3, split, 1)).find("split model of 3"), std::string::npos);
}

TEST(ModelFacts, SplitModelsAreSummed) {
  const TempDir folder;
  write_file(folder.path() / "m-00001-of-00002.gguf", model(false, 3, int_entry("split.count", 2), 1));
  EXPECT_THROW(read_gguf(folder.path() / "m-00001-of-00002.gguf"), Error);
  write_file(folder.path() / "m-00002-of-00002.gguf", model(false, 3, int_entry("split.count", 2), 1));
  EXPECT_EQ(read_gguf(folder.path() / "m-00001-of-00002.gguf").parameters, 2u * (640 + 4096));
}

}  // namespace
}  // namespace hyperloom
