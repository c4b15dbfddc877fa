#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "base/error.h"
#include "engine/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
  try {
    hyperloom::parse_gguf(stream, size, "fuzz.gguf");
  } catch (const hyperloom::Error&) {
  }
  return 0;
}
