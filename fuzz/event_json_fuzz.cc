// Any lines as the events of one answer: the fast way of reading them (a template of the event before) and the plain one end
// in the same record, and no count in it is absurd.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/text.h"
#include "load/request_record.h"

using namespace hyperloom;

namespace {

void require(bool holds) {
  if (!holds) abort();
}

// `field`: before each event; an event with a name of its own is never read by a template.
RequestRecord fold(std::string_view lines, bool chat, const std::string& field) {
  RequestRecord record;
  record.intended_s = record.sent_s = 1;
  StreamFold fold(record, chat);
  double now = 1;
  for (const std::string& line : split(lines, '\n')) fold.on_bytes(field + "data: " + line + "\n\n", now += 0.001);
  fold.on_end(200, "", now += 0.001);
  if (record.fail_kind == "no_events") record.fail_text.clear();   // quotes the bytes, `field` too
  return record;
}

}  // namespace

// The first byte: chat or completions. The rest: one event a line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view lines(reinterpret_cast<const char*>(data) + 1, size - 1);
  const RequestRecord fast = fold(lines, data[0] & 1, ""), plain = fold(lines, data[0] & 1, "event: message\n");
  require(to_json_value(fast) == to_json_value(plain));
  require(fast.tokens() >= 0 && fast.tokens() <= 10000000 && fast.prompt_tokens <= 10000000);
  require(fast.state != RequestState::Completed || fast.http_status == 200);
  int before = 0;
  for (const TokenMark& mark : fast.marks) {
    require(mark.tokens >= before);
    before = mark.tokens;
  }
  return 0;
}
