#include "engine/gguf.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/hash.h"

namespace hyperloom {
namespace {

constexpr uint64_t kMaxHeader = uint64_t{512} << 20;   // the largest vocabularies need some 20 MB
constexpr uint64_t kMaxString = uint64_t{64} << 20;
constexpr size_t kMaxList = 4096;
const char kDownload[] = "download or copy the model again, then compare its size with the original";

enum ValueType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

uint32_t width_of(uint32_t type) {
  switch (type) {
    case U8: case I8: case Bool: return 1;
    case U16: case I16: return 2;
    case U32: case I32: case F32: return 4;
    case U64: case I64: case F64: return 8;
    default: return 0;
  }
}

class HeaderReader {
 public:
  HeaderReader(std::istream& stream, uint64_t size, const std::string& name)
      : stream_(stream), size_(size), name_(name) {}

  const std::string& seen() const { return seen_; }
  uint64_t left() const { return size_ - seen_.size(); }

  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw bad_input(name_ + ": " + problem, mend);
  }

  // A count or length that the rest of the file cannot hold means that the file was cut.
  void need(uint64_t count, uint64_t each, const std::string& what) const {
    if (each != 0 && count > std::numeric_limits<uint64_t>::max() / each) {
      fail("header claims " + std::to_string(count) + " entries of " + what, kDownload);
    }
    const uint64_t bytes = count * each;
    if (bytes > left()) {
      fail("cut short in its header: " + what + " at byte " + std::to_string(seen_.size()) + " needs " +
               std::to_string(bytes - left()) + " bytes more than the file's " + std::to_string(size_),
           kDownload);
    }
    if (seen_.size() + bytes > kMaxHeader) fail("header is larger than 512 MiB", "is this really a GGUF model?");
  }

  // Appends `count` bytes to seen_ and returns where they start. In steps: the file may be shorter than it said.
  size_t take(uint64_t count, const std::string& what) {
    need(count, 1, what);
    const size_t start = seen_.size();
    while (count > 0) {
      char buffer[65536];
      const auto step = static_cast<std::streamsize>(std::min<uint64_t>(count, sizeof buffer));
      if (!stream_.read(buffer, step)) fail("cannot be read in " + what, "check the disk and the file's rights");
      seen_.append(buffer, static_cast<size_t>(step));
      count -= static_cast<uint64_t>(step);
    }
    return start;
  }

  template <typename T>
  T value(const std::string& what) {
    const size_t start = take(sizeof(T), what);   // may move seen_
    T result;
    std::memcpy(&result, seen_.data() + start, sizeof(T));
    return result;
  }

  std::string text(const std::string& what) {
    const auto length = value<uint64_t>(what);
    need(length, 1, what);
    if (length > kMaxString) fail(what + " is longer than 64 MiB", kDownload);
    const size_t start = take(length, what);
    return seen_.substr(start, length);
  }

  double number(uint32_t type, const std::string& what) {
    switch (type) {
      case U8: return value<uint8_t>(what);
      case I8: return value<int8_t>(what);
      case U16: return value<uint16_t>(what);
      case I16: return value<int16_t>(what);
      case U32: return value<uint32_t>(what);
      case I32: return value<int32_t>(what);
      case F32: return value<float>(what);
      case Bool: return value<uint8_t>(what) != 0;
      case U64: return static_cast<double>(value<uint64_t>(what));
      case I64: return static_cast<double>(value<int64_t>(what));
      case F64: return value<double>(what);
      default: fail(what + " has the unknown value type " + std::to_string(type), kDownload);
    }
  }

 private:
  std::istream& stream_;
  uint64_t size_;
  std::string name_;
  std::string seen_;
};

void read_array(HeaderReader& in, const std::string& key, GgufHeader& header) {
  const std::string what = "metadata `" + key.substr(0, 100) + "`";
  const auto type = in.value<uint32_t>(what);
  const auto count = in.value<uint64_t>(what);
  header.numbers[key + "#"] = static_cast<double>(count);
  if (type == String) {
    in.need(count, 8, what);
    for (uint64_t i = 0; i < count; ++i) in.text(what);
    return;
  }
  const uint32_t width = width_of(type);
  if (width == 0) in.fail(what + " is an array of the unknown type " + std::to_string(type), kDownload);
  in.need(count, width, what);
  if (count > kMaxList) {
    in.take(count * width, what);
    return;
  }
  std::vector<double>& list = header.lists[key];
  for (uint64_t i = 0; i < count; ++i) list.push_back(in.number(type, what));
}

void read_metadata(HeaderReader& in, uint64_t count, GgufHeader& header) {
  in.need(count, 8 + 4 + 1, "metadata");
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = in.text("metadata key " + std::to_string(i + 1));
    const std::string what = "metadata `" + key.substr(0, 100) + "`";
    const auto type = in.value<uint32_t>(what);
    if (type == String) {
      header.texts[key] = in.text(what);
    } else if (type == Array) {
      read_array(in, key, header);
    } else {
      header.numbers[key] = in.number(type, what);
    }
  }
}

GgufTensor read_tensor(HeaderReader& in, uint64_t index) {
  GgufTensor tensor;
  const std::string what = "tensor " + std::to_string(index + 1);
  tensor.name = in.text(what);
  const auto dimensions = in.value<uint32_t>(what);
  if (dimensions > 8) in.fail(what + " has " + std::to_string(dimensions) + " dimensions", kDownload);
  tensor.elements = 1;
  uint64_t row = 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    const auto length = in.value<uint64_t>(what);
    if (d == 0) row = length;
    if (length != 0 && tensor.elements > (uint64_t{1} << 60) / length) {
      in.fail(what + " `" + tensor.name.substr(0, 100) + "` is absurdly large", kDownload);
    }
    tensor.elements *= length;
  }
  tensor.type = in.value<uint32_t>(what);
  tensor.offset = in.value<uint64_t>(what);
  if (tensor.offset > (uint64_t{1} << 60)) in.fail(what + " lies at an absurd offset", kDownload);
  const GgufType type = gguf_type(tensor.type);
  if (type.bytes != 0 && row % type.elements != 0) {
    in.fail(what + " `" + tensor.name.substr(0, 100) + "`: rows of " + std::to_string(row) +
                " elements do not fit blocks of " + type.name, kDownload);
  }
  tensor.bytes = tensor.elements / type.elements * type.bytes;
  return tensor;
}

}  // namespace

GgufHeader parse_gguf(std::istream& stream, uint64_t size, const std::string& name) {
  HeaderReader in(stream, size, name);
  if (size == 0) in.fail("is empty", kDownload);
  const size_t magic = in.take(std::min<uint64_t>(4, size), "the first bytes");
  if (size < 4 || in.seen().compare(magic, 4, "GGUF") != 0) {
    in.fail("is no GGUF file", "give a .gguf model; convert other formats first");
  }
  const auto version = in.value<uint32_t>("the version");
  if ((version & 0xFFFF) == 0) in.fail("is a big-endian GGUF file", "convert it to little-endian first");
  if (version < 2 || version > 3) {
    in.fail("is GGUF version " + std::to_string(version), "versions 2 and 3 are known; convert the model anew");
  }
  GgufHeader header;
  const auto tensors = in.value<uint64_t>("the tensor count");
  const auto entries = in.value<uint64_t>("the metadata count");
  read_metadata(in, entries, header);
  in.need(tensors, 8 + 4 + 4 + 8, "the tensor index");
  for (uint64_t i = 0; i < tensors; ++i) header.tensors.push_back(read_tensor(in, i));

  uint64_t alignment = 32;
  if (const auto found = header.numbers.find("general.alignment"); found != header.numbers.end()) {
    if (!(found->second >= 1 && found->second <= 1 << 20)) in.fail("has an absurd alignment", kDownload);
    alignment = static_cast<uint64_t>(found->second);
  }
  header.header_bytes = in.seen().size();
  header.data_offset = (header.header_bytes + alignment - 1) / alignment * alignment;
  header.end = header.header_bytes;
  for (const GgufTensor& tensor : header.tensors) {
    header.end = std::max(header.end, header.data_offset + tensor.offset + tensor.bytes);
  }
  if (header.end > size) {
    in.fail("cut short: " + std::to_string(header.end - size) + " bytes are missing (" + std::to_string(size) +
                " of " + std::to_string(header.end) + ")", kDownload);
  }
  header.sha256 = sha256_hex(in.seen());
  return header;
}

GgufType gguf_type(uint32_t type) {
  static const std::map<uint32_t, GgufType> kTypes = {
      {0, {"F32", 1, 4}},        {1, {"F16", 1, 2}},        {2, {"Q4_0", 32, 18}},     {3, {"Q4_1", 32, 20}},
      {6, {"Q5_0", 32, 22}},     {7, {"Q5_1", 32, 24}},     {8, {"Q8_0", 32, 34}},     {9, {"Q8_1", 32, 36}},
      {10, {"Q2_K", 256, 84}},   {11, {"Q3_K", 256, 110}},  {12, {"Q4_K", 256, 144}},  {13, {"Q5_K", 256, 176}},
      {14, {"Q6_K", 256, 210}},  {15, {"Q8_K", 256, 292}},  {16, {"IQ2_XXS", 256, 66}}, {17, {"IQ2_XS", 256, 74}},
      {18, {"IQ3_XXS", 256, 98}}, {19, {"IQ1_S", 256, 50}}, {20, {"IQ4_NL", 32, 18}},  {21, {"IQ3_S", 256, 110}},
      {22, {"IQ2_S", 256, 82}},  {23, {"IQ4_XS", 256, 136}}, {24, {"I8", 1, 1}},       {25, {"I16", 1, 2}},
      {26, {"I32", 1, 4}},       {27, {"I64", 1, 8}},       {28, {"F64", 1, 8}},       {29, {"IQ1_M", 256, 56}},
      {30, {"BF16", 1, 2}},      {34, {"TQ1_0", 256, 54}},  {35, {"TQ2_0", 256, 66}},  {39, {"MXFP4", 32, 17}},
      {40, {"NVFP4", 64, 36}},   {41, {"Q1_0", 128, 18}},   {42, {"Q2_0", 64, 18}}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? GgufType{"type " + std::to_string(type), 1, 0} : found->second;
}

}  // namespace hyperloom
