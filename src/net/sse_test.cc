#include "net/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace hyperloom {
namespace {

std::vector<std::string> parse(const std::vector<std::string>& reads) {
  std::vector<std::string> seen;
  SseParser parser([&](const SseEvent& e) {
    seen.push_back(e.event.empty() ? e.data : e.event + "/" + e.data);
  });
  for (const auto& read : reads) parser.feed(read);
  parser.finish();
  return seen;
}

using Seen = std::vector<std::string>;

TEST(Sse, EverySplitOfAStreamGivesTheSameEvents) {
  const std::string stream =
      "\xEF\xBB\xBF" "data: a\r\ndata:b\r\n\r\n: ping\n\nevent: error\rdata:  two\r\rdata\ndata:\n\n"
      "id: 7\nretry: 5\ndata: \xE2\x98\x83\n\ndata: last";
  const Seen expected = {"a\nb", "error/ two", "\n", "\xE2\x98\x83", "last"};
  for (size_t i = 0; i <= stream.size(); ++i) {
    for (size_t j = i; j <= stream.size(); j += 3) {
      EXPECT_EQ(parse({stream.substr(0, i), stream.substr(i, j - i), stream.substr(j)}), expected)
          << i << " " << j;
    }
  }
}

TEST(Sse, OldLlamaErrorFieldIsAnErrorEvent) {
  EXPECT_EQ(parse({"error: {\"code\":500}\n\n"}), Seen{"error/{\"code\":500}"});
}

TEST(Sse, AnEventWithoutDataIsNone) {
  EXPECT_EQ(parse({"event: ping\n\n\n\ndata:\n\n"}), Seen{});
}

TEST(Sse, AnOverlongEventIsDroppedAndTheNextOneRead) {
  std::vector<std::string> seen;
  SseParser parser([&](const SseEvent& e) { seen.push_back(e.data); });
  parser.feed("data: before\n\ndata: ");
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 17; ++i) parser.feed(megabyte);
  EXPECT_TRUE(parser.overflowed());
  parser.feed("\ndata: tail of the long one\n\ndata: after\n\n");
  EXPECT_EQ(seen, (Seen{"before", "after"}));
}

TEST(Sse, ManyLinesOfOneEventCountTogether) {
  SseParser parser([](const SseEvent&) { FAIL(); });
  const std::string line = "data: " + std::string(1 << 20, 'x') + "\n";
  for (int i = 0; i < 17; ++i) parser.feed(line);
  EXPECT_TRUE(parser.overflowed());
  parser.finish();
}

}  // namespace
}  // namespace hyperloom
