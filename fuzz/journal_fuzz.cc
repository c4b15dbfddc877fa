// Any bytes: read as a journal, or refused with an Error; and what a prefix gives is a prefix of
// what all gives.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "journal/frame.h"

using namespace hyperloom;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const ParsedJournal all = parse_journal(bytes, "fuzz");
    if (all.good_bytes > size || (all.good_bytes < size) == all.contents.notice.empty())
      std::abort();
    const ParsedJournal part = parse_journal(bytes.substr(0, all.good_bytes), "fuzz");
    if (part.contents.entries.size() != all.contents.entries.size() ||
        part.last_hash != all.last_hash)
      std::abort();
  } catch (const Error&) {
  }
  return 0;
}
