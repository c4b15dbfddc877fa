#include "engine/model_facts.h"

#include <algorithm>
#include <fstream>
#include <regex>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/gguf.h"

namespace hyperloom {
namespace {

double number(const GgufHeader& header, const std::string& key, double otherwise = 0) {
  const auto found = header.numbers.find(key);
  return found == header.numbers.end() ? otherwise : found->second;
}

int whole(double value) {
  return value >= 0 && value <= 2e9 ? static_cast<int>(value) : 0;
}

std::string text(const GgufHeader& header, const std::string& key) {
  const auto found = header.texts.find(key);
  return found == header.texts.end() ? "" : found->second;
}

GgufHeader read_one(const fs::path& file) {
  std::error_code problem;
  const fs::file_status status = fs::status(file, problem);
  if (!fs::exists(status)) throw bad_input(file.string() + ": no such file", "give the path of a .gguf model");
  if (!fs::is_regular_file(status)) {
    throw bad_input(file.string() + ": is no file", "give the path of a .gguf model, not of a folder");
  }
  std::ifstream stream(file, std::ios::binary);
  const uint64_t size = fs::file_size(file, problem);
  if (!stream || problem) throw bad_input(file.string() + ": cannot be read", "check its rights (chmod a+r)");
  return parse_gguf(stream, size, file.string());
}

// model-00001-of-00003.gguf: the other parts hold the rest of the tensors.
std::vector<GgufHeader> read_parts(const fs::path& file) {
  std::vector<GgufHeader> parts;
  parts.push_back(read_one(file));
  const int count = whole(number(parts[0], "split.count", 1));
  if (count <= 1) return parts;
  const std::string name = file.filename().string();
  std::smatch match;
  static const std::regex kPart("^(.*)-([0-9]{5})-of-([0-9]{5})\\.gguf$");
  if (count > 1000 || !std::regex_match(name, match, kPart) || match[2] != "00001") {
    throw bad_input(file.string() + ": is not the first part of a split model of " + std::to_string(count),
                    "give the file whose name ends in -00001-of-NNNNN.gguf");
  }
  for (int part = 2; part <= count; ++part) {
    std::string digits = std::to_string(part);
    digits.insert(0, 5 - digits.size(), '0');
    parts.push_back(read_one(file.parent_path() / (match[1].str() + "-" + digits + "-of-" + match[3].str() + ".gguf")));
  }
  return parts;
}

void read_shape(const GgufHeader& header, ModelFacts& facts) {
  facts.name = text(header, "general.name");
  facts.architecture = text(header, "general.architecture");
  const std::string prefix = facts.architecture + ".";
  facts.layers = whole(number(header, prefix + "block_count"));
  facts.embedding = whole(number(header, prefix + "embedding_length"));
  facts.context = whole(number(header, prefix + "context_length"));
  facts.heads = whole(number(header, prefix + "attention.head_count"));
  facts.feed_forward = whole(number(header, prefix + "feed_forward_length"));
  facts.vocabulary = whole(number(header, "tokenizer.ggml.tokens#", number(header, prefix + "vocab_size")));
  const int head_dim = facts.heads > 0 ? facts.embedding / facts.heads : 0;
  facts.head_dim = whole(number(header, prefix + "attention.key_length", head_dim));
  const double value_dim = number(header, prefix + "attention.value_length", head_dim);

  // KV heads may differ by layer: hybrid models have layers without any.
  double kv_heads_of_all_layers = 0;
  const auto list = header.lists.find(prefix + "attention.head_count_kv");
  if (list != header.lists.end()) {
    for (const double heads : list->second) {
      facts.kv_heads = std::max(facts.kv_heads, whole(heads));
      kv_heads_of_all_layers += whole(heads);
    }
  } else {
    facts.kv_heads = whole(number(header, prefix + "attention.head_count_kv", facts.heads));
    kv_heads_of_all_layers = static_cast<double>(facts.kv_heads) * facts.layers;
  }
  const double kv_bytes = kv_heads_of_all_layers * (facts.head_dim + whole(value_dim)) * 2;
  facts.kv_bytes_per_token = static_cast<uint64_t>(kv_bytes);
}

void read_weights(const std::vector<GgufHeader>& parts, ModelFacts& facts) {
  const std::string prefix = facts.architecture + ".";
  const double experts = number(parts[0], prefix + "expert_count");
  const double used = number(parts[0], prefix + "expert_used_count", experts);
  const double expert_share = experts > 0 ? std::min(1.0, used / experts) : 1.0;
  std::map<uint32_t, uint64_t> by_type;
  uint64_t embedding_table = 0;
  bool own_output = false;
  double step = 0;
  for (const GgufHeader& part : parts) {
    for (const GgufTensor& tensor : part.tensors) {
      facts.parameters += tensor.elements;
      facts.bytes += tensor.bytes;
      by_type[tensor.type] += tensor.elements;
      if (tensor.name == "token_embd.weight") embedding_table = tensor.bytes;
      if (tensor.name == "output.weight") own_output = true;
      const bool expert = tensor.name.find("_exps.") != std::string::npos;
      step += static_cast<double>(tensor.bytes) * (expert ? expert_share : 1.0);
    }
  }
  // With an output matrix of its own, a step reads one row of the embedding table; tied, it reads it all, as output.
  if (own_output) step -= static_cast<double>(embedding_table);
  facts.step_bytes = static_cast<uint64_t>(step);
  uint64_t most = 0;
  for (const auto& [type, elements] : by_type) {
    if (elements <= most) continue;
    most = elements;
    facts.weights_type = gguf_type(type).name;
  }
}

}  // namespace

Facts ModelFacts::facts() const {
  return {{"model.name", name},
          {"model.architecture", architecture},
          {"model.weights_type", weights_type},
          {"model.layers", static_cast<double>(layers)},
          {"model.heads", static_cast<double>(heads)},
          {"model.kv_heads", static_cast<double>(kv_heads)},
          {"model.embedding", static_cast<double>(embedding)},
          {"model.context", static_cast<double>(context)},
          {"model.vocabulary", static_cast<double>(vocabulary)},
          {"model.head_dim", static_cast<double>(head_dim)},
          {"model.feed_forward", static_cast<double>(feed_forward)},
          {"model.parameters", static_cast<double>(parameters)},
          {"model.bytes", static_cast<double>(bytes)},
          {"model.bits_per_weight", parameters > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(parameters) : 0},
          {"model.step_bytes", static_cast<double>(step_bytes)},
          {"model.kv_bytes_per_token", static_cast<double>(kv_bytes_per_token)}};
}

ModelFacts read_gguf(const fs::path& file) {
  const std::vector<GgufHeader> parts = read_parts(file);
  ModelFacts facts;
  read_shape(parts[0], facts);
  read_weights(parts, facts);
  if (facts.architecture.empty() || facts.parameters == 0) {
    throw bad_input(file.string() + ": holds no model (architecture `" + facts.architecture + "`, " +
                        std::to_string(parts[0].tensors.size()) + " tensors)",
                    "give the weights themselves, not a vocabulary or an adapter");
  }
  if (facts.name.empty()) facts.name = file.stem().string();
  std::string hashes;
  for (const GgufHeader& part : parts) hashes += part.sha256;
  facts.sha256 = parts.size() == 1 ? hashes : sha256_hex(hashes);
  return facts;
}

}  // namespace hyperloom
