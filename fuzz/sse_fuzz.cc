// Any bytes in any split: the SSE parser sees the same events, and the fold ends in exactly one sane state.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "load/request_record.h"
#include "net/sse.h"

using namespace hyperloom;

namespace {

struct Seen {
  std::vector<std::string> events;
  SseParser parser{[this](const SseEvent& e) { events.push_back(e.event + "\n" + e.data); }};
};

void require(bool holds) {
  if (!holds) abort();
}

}  // namespace

// The first byte is the seed of the split, the second the options, the rest the stream.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  uint32_t split = data[0] + 1u;
  const uint8_t options = data[1];
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);

  Seen whole, parts;
  whole.parser.feed(stream);
  whole.parser.finish();

  RequestRecord record;
  record.intended_s = record.sent_s = 1;
  StreamFold fold(record, options & 1);
  double now = 1;
  for (std::string_view rest = stream; !rest.empty();) {
    split = split * 1664525u + 1013904223u;
    const std::string_view part = rest.substr(0, 1 + (split >> 24) % 64);
    rest.remove_prefix(part.size());
    parts.parser.feed(part);
    fold.on_bytes(part, now += 0.001);
  }
  parts.parser.finish();
  require(whole.events == parts.events);

  fold.on_end(options & 2 ? 500 : options & 4 ? 0 : 200, options & 8 ? "reset" : "", now += 0.001);
  require(record.state == RequestState::Completed || record.state == RequestState::Failed);
  require((record.state == RequestState::Failed) == !record.fail_kind.empty());
  require(record.tokens() >= 0);
  for (size_t i = 1; i < record.marks.size(); ++i) {
    require(record.marks[i].tokens >= record.marks[i - 1].tokens && record.marks[i].at_s >= record.marks[i - 1].at_s);
  }
  for (const double gap : record.itl_s()) require(gap >= 0);
  (void)to_json_value(record).dump(-1, ' ', false, Json::error_handler_t::replace);
  return 0;
}
