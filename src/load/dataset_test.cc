#include "load/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <streambuf>

#include "base/error.h"
#include "base/files.h"
#include "load/request_trace.h"
#include "load/sharegpt.h"
#include "workload/line_reader.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

class Dataset : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    write_file(folder_.path() / name, content);
    return (folder_.path() / name).string();
  }
  std::multiset<std::string> prompts(const std::string& name, int count = 10) {
    std::multiset<std::string> all;
    for (const DatasetPrompt& p : sample_dataset(name, 1, count).prompts) all.insert(p.prompt);
    return all;
  }
  std::string error(const std::string& name) {
    try {
      sample_dataset(name, 1, 10);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_NE(error.mend(), "");
      return error.what();
    }
    return "no error";
  }
  TempDir folder_;
};

using Prompts = std::multiset<std::string>;

TEST_F(Dataset, PlainLines) {
  EXPECT_EQ(prompts(file("a", "one\r\n\n  two words \nthree")), (Prompts{"one", "two words", "three"}));
  EXPECT_EQ(prompts(file("a.txt", "[not json\n{nor this")), (Prompts{"[not json", "{nor this"}));
}

TEST_F(Dataset, JsonLines) {
  const std::string name = file("a.jsonl", "\xEF\xBB\xBF{\"prompt\": \"one\"}\n\n{\"prompt\":\"two\",\"output_tokens\":7}\n");
  EXPECT_EQ(prompts(name), (Prompts{"one", "two"}));
  const std::string bad = file("b.jsonl", "{\"prompt\": \"one\"}\n{\"prompt\": 3}\n");
  EXPECT_EQ(error(bad), bad + ":2 (byte 18): this line has no string \"prompt\"");
  const std::string cut = file("c.jsonl", "{\"prompt\": \"one\"}\n{\"prompt\": \"tw");
  EXPECT_THAT(error(cut), HasSubstr(cut + ":2 (byte 18)"));
  EXPECT_THAT(error(file("d.jsonl", "{\"prompt\":\"x\",\"output_tokens\":-1}")), HasSubstr("-1"));
  const std::string deep(200000, '[');
  const std::string nested = file("e.jsonl", "{\"prompt\":\"x\",\"output_tokens\":" + deep + std::string(deep.size(), ']') + "}");
  EXPECT_EQ(error(nested), nested + ":1 (byte 0): \"output_tokens\" is no number");
}

const char* const kShareGpt =
    R"([{"id":"1","conversations":[{"from":"human","value":"first \u00e9"},{"from":"gpt","value":"abcdefghijkl"}]},
        {"id":"2","tags":[{"from":"human","value":"no turn"}],"conversations":[]},
        {"conversations":[{"from":"system","value":"be nice"},{"value":"second","from":"human"},
                          {"from":"human","value":"later"}],"extra":{"deep":[[{"from":"human"}]]}},
        {"conversations":[{"from":"gpt","value":"I begin"},{"from":"human","value":"数据 third"}]}])";

TEST_F(Dataset, ShareGpt) {
  const std::string name = file("a.json", kShareGpt);
  EXPECT_EQ(prompts(name), (Prompts{"first \xC3\xA9", "second", "数据 third"}));
  for (const DatasetPrompt& p : sample_dataset(name, 1, 10).prompts) {
    EXPECT_EQ(p.output_tokens, p.prompt[0] == 'f' ? 4 : 0) << p.prompt;
  }
}

TEST_F(Dataset, AShareGptFileCutAnywhereGivesTheWholeConversationsBeforeTheCut) {
  const std::string whole = kShareGpt;
  const size_t first_ends = whole.find("]},") + 2;
  for (size_t cut = first_ends; cut < whole.size(); ++cut) {
    const Prompts got = prompts(file("cut.json", whole.substr(0, cut)));
    EXPECT_GE(got.size(), 1u) << cut;
    EXPECT_EQ(got.count("first \xC3\xA9"), 1u) << cut;
  }
  for (size_t cut = 1; cut < first_ends; ++cut) {
    EXPECT_THAT(error(file("cut.json", whole.substr(0, cut))), HasSubstr("holds no prompt")) << cut;
  }
}

TEST_F(Dataset, AMalformedShareGptFileIsRefusedWithItsOffset) {
  const std::string name = file("a.json", std::string("[{\"conversations\": [}]") + std::string(40, ' '));
  EXPECT_THAT(error(name), HasSubstr(name + ": malformed at byte 21"));
}

TEST_F(Dataset, ProblemsOfTheFileAreSaid) {
  EXPECT_THAT(error((folder_.path() / "absent").string()), HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(error(folder_.path().string()), HasSubstr("is a folder"));
  EXPECT_THAT(error(file("empty", "\n\n")), HasSubstr("holds no prompt"));
  EXPECT_THAT(error(file("e.json", "[]")), HasSubstr("holds no prompt"));
}

TEST_F(Dataset, ASampleIsEvenAndSeeded) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += std::to_string(i) + "\n";
  const std::string name = file("many.txt", lines);
  auto sum = [&](uint64_t seed) {
    double total = 0;
    for (const DatasetPrompt& p : sample_dataset(name, seed, 100).prompts) total += std::stod(p.prompt);
    return total / 100;
  };
  EXPECT_EQ(sum(5), sum(5));
  EXPECT_NE(sum(5), sum(6));
  EXPECT_NEAR((sum(1) + sum(2) + sum(3) + sum(4)) / 4, 499.5, 60);   // standard error 14
}

TEST_F(Dataset, AShortFileGoesRoundAgain) {
  Traffic traffic;
  traffic.output_tokens = {60, 0.3};
  traffic.dataset = file("few.txt", "a\nb\nc\n");
  const RequestTrace trace = make_trace(traffic, 1, 9, 1);
  std::multiset<std::string> all;
  for (const PlannedRequest& r : trace.requests) all.insert(r.prompt);
  EXPECT_EQ(all, (Prompts{"a", "a", "a", "b", "b", "b", "c", "c", "c"}));
}

TEST_F(Dataset, TheFilesOwnAnswerLengthsAreUsedWhenTheWorkloadGivesNone) {
  Traffic traffic;
  traffic.dataset = file("own.jsonl", "{\"prompt\":\"x\",\"output_tokens\":77}");
  EXPECT_EQ(make_trace(traffic, 1, 1, 1).requests[0].max_tokens, 77);
}

TEST_F(Dataset, ACutShareGptFileIsNoticedWithItsOffsetAndTheMend) {
  const std::string whole = kShareGpt, name = file("cut.json", whole.substr(0, whole.find("later")));
  const DatasetSample sample = sample_dataset(name, 1, 10);
  const std::string whole_until = std::to_string(whole.find("\"conversations\":[]}") + 19);
  EXPECT_EQ(sample.notice, "dataset " + name + " ends too early, at byte " + std::to_string(whole.find("later")) + ": only its 2 whole conversations, up to byte " +
                               whole_until + ", are used; fetch the file again");
  EXPECT_EQ(sample_dataset(file("whole.json", whole), 1, 10).notice, "");
  Traffic traffic;
  traffic.dataset = name;
  traffic.output_tokens.mean = 5;
  EXPECT_EQ(make_trace(traffic, 1, 3, 1).notices, (std::vector<std::string>{sample.notice}));
}

TEST_F(Dataset, ConversationsAsJsonLines) {
  const std::string name = file("a.jsonl",
                                R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "one"}, {"role": "assistant", "content": "12345678"}]})"
                                "\n" R"({"conversations": [{"from": "human", "value": "two"}]})"
                                "\n" R"({"messages": []})");
  EXPECT_EQ(prompts(name), (Prompts{"one", "two"}));
  for (const DatasetPrompt& p : sample_dataset(name, 1, 10).prompts) EXPECT_EQ(p.output_tokens, p.prompt == "one" ? 3 : 0);
}

TEST_F(Dataset, LaterTurnsAreKeptWhereTheyAreAskedFor) {
  const std::string name = file("a.json", R"([{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "xxxx"},
      {"from": "human", "value": "b"}, {"from": "gpt", "value": "xxxxxxxx"}, {"from": "human", "value": "c"}]}, {"conversations": [{"from": "human", "value": "z"}]}])");
  for (const DatasetPrompt& p : sample_dataset(name, 1, 10).prompts) EXPECT_TRUE(p.later.empty());
  for (const DatasetPrompt& p : sample_dataset(name, 1, 10, 2).prompts) {
    if (p.prompt == "z") continue;
    ASSERT_EQ(p.later.size(), 1u);
    EXPECT_EQ(p.later[0].text, "b");
    EXPECT_EQ(p.later[0].output_tokens, 3);
  }
  Traffic traffic;
  traffic.dataset = name;
  traffic.output_tokens.mean = 5;
  traffic.turns.mean = 4;
  const RequestTrace trace = make_trace(traffic, 1, 8, 1);
  std::string told;
  for (const PlannedRequest& r : trace.requests) told += (r.follows ? "+" : " ") + r.prompt;
  EXPECT_THAT(told, testing::HasSubstr(" a+b+c z")) << "a recorded conversation ends where it ended: " << told;
  EXPECT_THAT(told, testing::Not(testing::HasSubstr("z+"))) << told;
}

TEST_F(Dataset, PlainLinesMakeConversationsOneAfterTheOther) {
  Traffic traffic;
  traffic.dataset = file("a.txt", "a\nb\nc\n");
  traffic.output_tokens.mean = 5;
  traffic.turns.mean = 3;
  std::string told;
  for (const PlannedRequest& r : make_trace(traffic, 1, 6, 1).requests) told += r.follows ? "+" : " ";
  EXPECT_EQ(told, " ++ ++");
}

TEST_F(Dataset, WhatIsNoTextIsRefused) {
  EXPECT_THAT(error(file("a.gz", std::string("\x1f\x8b\x08\0\0\0", 6))), HasSubstr("a.gz:1 (byte 0): holds a NUL byte"));
  EXPECT_THAT(error(file("long.txt", std::string(LineReader::kLongest + 1, 'x'))), HasSubstr("longer than 8"));
  const std::string first = R"([{"conversations": [{"from": "human", "value": "a"}]})";
  std::istringstream in(first + R"(, {"conversations": [{"value": ")" + std::string(300000, 'x'));
  try {
    read_sharegpt(in, "long.json", 1, [](DatasetPrompt) {}, 100000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("long.json: the conversation at byte " + std::to_string(first.size()) + " is longer than 100.0 kB"));
  }
}

// A ShareGPT array of any size, made as it is read. Notes how much of the heap is in use meanwhile.
class EndlessShareGpt : public std::streambuf {
 public:
  explicit EndlessShareGpt(size_t bytes) : conversations_(bytes / kConversation) { setg(&open_, &open_, &open_ + 1); }
  size_t most_heap() const { return most_heap_; }

 protected:
  int underflow() override {
    if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
    most_heap_ = std::max(most_heap_, static_cast<size_t>(mallinfo2().uordblks));
    if (given_ > conversations_) return traits_type::eof();
    text_ = given_ == conversations_ ? "]" : (given_ > 0 ? "," : "") + conversation();
    ++given_;
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(text_[0]);
  }

 private:
  static constexpr size_t kConversation = 4096;
  std::string conversation() const {
    const std::string text(kConversation / 2 - 70, 'x');
    return R"({"id": "1", "conversations": [{"from": "human", "value": ")" + text + R"("}, {"from": "gpt", "value": ")" + text + R"("}]})";
  }
  char open_ = '[';
  size_t conversations_, given_ = 0, most_heap_ = 0;
  std::string text_;
};

TEST_F(Dataset, ABigShareGptFileIsNeverHeldWhole) {
  const auto heap = [](size_t bytes) {
    EndlessShareGpt file(bytes);
    std::istream in(&file);
    size_t prompts = 0;
    const size_t before = mallinfo2().uordblks;
    const ShareGptEnd end = read_sharegpt(in, "big.json", 1, [&](DatasetPrompt) { ++prompts; });
    EXPECT_FALSE(end.cut);
    EXPECT_EQ(prompts, bytes / 4096);
    EXPECT_GT(end.bytes, bytes * 9 / 10);
    EXPECT_LT(end.longest, 5000u);
    return std::max(file.most_heap(), before) - before;
  };
  const size_t small = heap(1 << 20), big = heap(8 << 20);
  EXPECT_LT(small, 1u << 20);
  EXPECT_LT(big, small + 100000) << "memory that grows with the file";
}

}  // namespace
}  // namespace hyperloom
