// What a model file says about itself. GGUF header only: no weights are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "engine/expression.h"

namespace hyperloom {

struct ModelFacts {
  std::string name, architecture, weights_type;   // weights_type: dominant tensor type, "Q4_1"
  int layers = 0, heads = 0, kv_heads = 0, embedding = 0, context = 0, vocabulary = 0, head_dim = 0, feed_forward = 0;
  uint64_t parameters = 0;               // sum over tensors
  uint64_t bytes = 0;                    // of tensor data
  std::string sha256;                    // of header and tensor index (recipe key `model`)
  // Bytes of weights that one decoding step reads (embedding table counted once when tied) and of KV cache per token at f16.
  uint64_t step_bytes = 0, kv_bytes_per_token = 0;
  Facts facts() const;                   // model.*
};

// Error(BadInput): missing, not GGUF, cut short (says how many bytes are missing).
ModelFacts read_gguf(const std::filesystem::path& file);

}  // namespace hyperloom
