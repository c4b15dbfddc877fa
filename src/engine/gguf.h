// The header of a GGUF file (versions 2 and 3): metadata and tensor index. Reads no weights. Input is hostile: no
// count in the file makes us allocate before the bytes behind it have been seen.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

namespace hyperloom {

struct GgufTensor {
  std::string name;
  uint32_t type = 0;
  uint64_t elements = 0;
  uint64_t offset = 0;                    // from the start of the data section
  uint64_t bytes = 0;                     // 0 when the type is unknown to us
};

struct GgufHeader {
  std::map<std::string, double> numbers;  // scalars of any numeric type, and the length of arrays as "key#"
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<double>> lists;   // short numeric arrays
  std::vector<GgufTensor> tensors;
  uint64_t header_bytes = 0;              // metadata and tensor index
  uint64_t data_offset = 0;               // aligned
  uint64_t end = 0;                       // size that the file must have at least
  std::string sha256;                     // of the first header_bytes
};

// `size` is the file's size, `name` is for messages. Error(BadInput): not GGUF, cut short, absurd counts.
GgufHeader parse_gguf(std::istream& stream, uint64_t size, const std::string& name);

// Name, elements and bytes of a block; bytes 0 = unknown.
struct GgufType { std::string name; uint32_t elements = 1, bytes = 0; };
GgufType gguf_type(uint32_t type);

}  // namespace hyperloom
