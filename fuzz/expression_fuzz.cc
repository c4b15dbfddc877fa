#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "engine/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hyperloom::Facts facts = {{"model.heads", 28.0}, {"knob.-np", 4.0}, {"traffic.kind", std::string("closed")}};
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto value = hyperloom::evaluate(text, facts);
    if (value) hyperloom::value_of(hyperloom::text_of(*value));
    hyperloom::holds(text, facts);
    hyperloom::names_in(text);
  } catch (const hyperloom::Error&) {
  }
  return 0;
}
