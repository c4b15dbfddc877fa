#include "journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

std::string at_line(int line, size_t offset) {
  return "journal.hlj:" + std::to_string(line) + ": byte offset " + std::to_string(offset) + ":";
}

class JournalTest : public testing::Test {
 protected:
  fs::path file() const { return dir_.path() / "journal.hlj"; }
  std::unique_ptr<Journal> open() { return Journal::open(file(), clock_); }
  // Three entries, closed again. Returns the bytes.
  std::string three() {
    auto journal = open();
    journal->append("session.opened", "s1", {{"model", "m \"x\"\n"}}, true);
    journal->append("leg.done", "L1", {{"value", 12.5}, {"list", {1, 2, 3}}}, false);
    journal->append("verdict", "C1", {{"text", "kept"}}, false);
    journal.reset();
    return read_file(file());
  }
  void put(std::string_view bytes) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string error_of_reading() {
    try {
      read_journal(file());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_NE(error.mend(), "");
      return error.what();
    }
    return "";
  }

  TempDir dir_;
  VirtualClock clock_;
};

TEST_F(JournalTest, WhatIsAppendedIsReadBack) {
  clock_.advance(1.5);
  three();
  const JournalContents contents = read_journal(file());
  ASSERT_EQ(contents.entries.size(), 3u);
  EXPECT_EQ(contents.notice, "");
  EXPECT_EQ(contents.entries[0].seq, 1u);
  EXPECT_EQ(contents.entries[0].type, "session.opened");
  EXPECT_EQ(contents.entries[0].id, "s1");
  EXPECT_EQ(contents.entries[0].mono_ns, 1500000000);
  EXPECT_EQ(contents.entries[0].boot_id, "virtual");
  EXPECT_EQ((*contents.entries[0].body)["model"], "m \"x\"\n");
  EXPECT_EQ((*contents.entries[1].body)["value"], 12.5);
  EXPECT_EQ(contents.entries[2].seq, 3u);
}

TEST_F(JournalTest, FramesAsDocumented) {
  const std::vector<std::string> lines = split(trim(three()), '\n');
  std::string before;
  for (const std::string& line : lines) {
    const std::string json = line.substr(18);
    EXPECT_EQ(std::stoul(line.substr(0, 8), nullptr, 16), json.size());
    EXPECT_EQ(std::stoul(line.substr(9, 8), nullptr, 16), crc32c(json));
    EXPECT_EQ(Json::parse(json)["prev"], before);
    before = sha256_hex(line).substr(0, 16);
  }
}

TEST_F(JournalTest, ReopeningContinuesTheChain) {
  three();
  EXPECT_EQ(open()->contents().entries.size(), 3u);
  EXPECT_EQ(open()->append("closed", "s1", Json::object(), true).seq, 4u);
  EXPECT_EQ(read_journal(file()).entries.size(), 4u);
}

TEST_F(JournalTest, TornTailAtEveryOffsetIsCutOffAndWritingGoesOn) {
  const std::string bytes = three();
  const size_t last = bytes.rfind('\n', bytes.size() - 2) + 1;
  for (size_t length = last + 1; length < bytes.size(); ++length) {
    put(bytes.substr(0, length));
    const JournalContents read = read_journal(file());
    ASSERT_EQ(read.entries.size(), 2u) << length;
    ASSERT_THAT(read.notice, HasSubstr("torn tail of " + std::to_string(length - last) + " bytes"));
    ASSERT_EQ(fs::file_size(file()), length) << "reading must not write";
    if (length % 16 && length + 1 < bytes.size()) continue;  // each opening waits for the disk
    auto journal = open();
    ASSERT_EQ(fs::file_size(file()), last);
    ASSERT_THAT(journal->contents().notice, HasSubstr("torn tail"));
    ASSERT_EQ(journal->append("verdict", "C1", Json::object(), false).seq, 3u);
    journal.reset();
    ASSERT_EQ(read_journal(file()).entries.size(), 3u);
  }
  put(bytes.substr(0, last));
  EXPECT_EQ(read_journal(file()).notice, "");
}

TEST_F(JournalTest, ZerosAfterAPowerCutAreATornTail) {
  put(three() + std::string(4096, '\0'));
  EXPECT_EQ(read_journal(file()).entries.size(), 3u);
  EXPECT_EQ(open()->contents().entries.size(), 3u);
  EXPECT_EQ(read_journal(file()).notice, "");
}

TEST_F(JournalTest, FlippedByteIsRefusedWithLineAndOffsetOrIsTheTail) {
  const std::string bytes = three();
  const size_t second = bytes.find('\n') + 1, third = bytes.find('\n', second) + 1;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (const int flip : {0x01, 0x20, 0x80, bytes[at] ^ '\n'}) {
      if (flip == 0) continue;
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      put(damaged);
      std::string error;
      JournalContents read;
      try {
        read = read_journal(file());
      } catch (const Error& e) {
        error = e.what();
      }
      if (at >= third) {
        // Of the last line no byte is trusted: dropped or refused, never taken.
        ASSERT_TRUE(!error.empty() || (read.entries.size() == 2 && !read.notice.empty())) << at;
      } else {
        const int line = at < second ? 1 : 2;
        ASSERT_THAT(error, HasSubstr(at_line(line, line == 1 ? 0 : second)))
            << at << " flip " << flip;
      }
    }
}

TEST_F(JournalTest, ExchangedMissingAndForgedEntriesBreakTheChain) {
  const std::string bytes = three();
  const std::vector<std::string> lines = split(trim(bytes), '\n');
  put(lines[0] + "\n" + lines[2] + "\n");
  EXPECT_THAT(error_of_reading(), HasSubstr("entry number 3 where 2 should be"));
  put(lines[1] + "\n" + lines[0] + "\n" + lines[2] + "\n");
  EXPECT_THAT(error_of_reading(), HasSubstr("journal.hlj:1: byte offset 0"));
  // A forger who mends length and checksum still changes the hash that the next entry names.
  const std::string json = replace_all(lines[1].substr(18), "12.5", "99.5");
  char frame[32];
  std::snprintf(frame, sizeof frame, "%08zx %08x ", json.size(), crc32c(json));
  put(lines[0] + "\n" + frame + json + "\n" + lines[2] + "\n");
  EXPECT_THAT(error_of_reading(), HasSubstr("chain is broken"));
  EXPECT_THROW(open(), Error);
  EXPECT_FALSE(fs::exists(dir_.path() / "journal.lock.txt"));
}

TEST_F(JournalTest, NewerVersions) {
  const auto write = [&](int version, const std::string& type) {
    const std::string json = Json({{"v", version},
                                   {"seq", 1},
                                   {"prev", ""},
                                   {"boot_id", "b"},
                                   {"mono_ns", 1},
                                   {"wall", "w"},
                                   {"type", type},
                                   {"id", ""},
                                   {"body", Json::object()}})
                                 .dump();
    char frame[32];
    std::snprintf(frame, sizeof frame, "%08zx %08x ", json.size(), crc32c(json));
    put(frame + json + "\n");
  };
  write(2, "x-note");
  EXPECT_EQ(read_journal(file()).entries.size(), 1u);
  write(2, "leg.done");
  EXPECT_EQ(read_journal(file()).entries.size(), 1u);
  write(1, "x-note");
  EXPECT_EQ(read_journal(file()).entries.size(), 1u);
  write(2, "leg.split");
  EXPECT_THAT(error_of_reading(), HasSubstr("`leg.split` of journal version 2"));
  write(0, "leg.done");
  EXPECT_THAT(error_of_reading(), HasSubstr("impossible version"));
}

TEST_F(JournalTest, SecondWriterIsRefusedAndReadersAreNot) {
  auto journal = open();
  journal->append("probe", "p", Json::object(), true);
  try {
    open();
    FAIL() << "two writers";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_THAT(error.what(), HasSubstr("in use by process " + std::to_string(getpid())));
  }
  EXPECT_EQ(read_journal(file()).entries.size(), 1u);
  journal.reset();
  EXPECT_NO_THROW(open());
}

TEST_F(JournalTest, LockDiesWithAKilledHolder) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto journal = open();
    [[maybe_unused]] const auto said = write(ready[1], "x", 1);
    for (;;) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  try {
    open();
    ADD_FAILURE() << "the lock does not hold between processes";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(child)));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]), close(ready[1]);
  EXPECT_NO_THROW(open()) << "the note that the dead holder left means nothing";
}

TEST_F(JournalTest, FullDiskRestoresTheFileAndSaysSo) {
  const std::string bytes = three();
  auto journal = open();
  struct rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const size_t room : {0, 1, 30}) {
    struct rlimit tight = old;
    tight.rlim_cur = bytes.size() + room;
    setrlimit(RLIMIT_FSIZE, &tight);
    std::string error, mend;
    try {
      journal->append("leg.done", "L2", {{"value", 1}}, true);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Internal);
      error = e.what(), mend = e.mend();
    }
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_THAT(error, HasSubstr(file().string()));
    EXPECT_THAT(error, HasSubstr("bytes free"));
    EXPECT_NE(mend, "");
    EXPECT_EQ(read_file(file()), bytes);
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(journal->append("leg.done", "L2", {{"value", 1}}, true).seq, 4u);  // space was made
  EXPECT_EQ(read_journal(file()).entries.size(), 4u);
}

TEST_F(JournalTest, UnusableNumbersAndTextNeverReachTheFile) {
  auto journal = open();
  try {
    journal->append("leg.done", "L1",
                    {{"load", {{"tpot", std::numeric_limits<double>::quiet_NaN()}}}}, true);
    ADD_FAILURE() << "NaN was written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("leg.done/load/tpot"));
  }
  const Entry entry = journal->append("probe", "p", {{"log", "bad \xff byte"}}, true);
  const JournalContents read = read_journal(file());
  ASSERT_EQ(read.entries.size(), 1u);
  EXPECT_EQ(*read.entries[0].body, *entry.body);
}

TEST_F(JournalTest, MissingAndForeignFiles) {
  EXPECT_THROW(read_journal(dir_.path() / "none.hlj"), Error);
  EXPECT_THROW(Journal::open(dir_.path() / "no" / "folder.hlj", clock_), Error);
  put("hello\nworld\n");
  EXPECT_THAT(error_of_reading(), HasSubstr("journal.hlj:1: byte offset 0"));
  put("");
  EXPECT_EQ(read_journal(file()).entries.size(), 0u);
}

TEST_F(JournalTest, ReadsManyEntries) {
  auto journal = open();
  for (int i = 0; i < 2000; ++i)
    journal->append("leg.done", "L" + std::to_string(i), {{"i", i}}, false);
  journal.reset();
  const JournalContents read = read_journal(file());
  ASSERT_EQ(read.entries.size(), 2000u);
  EXPECT_EQ((*read.entries[1999].body)["i"], 1999);
}

TEST(Blob, StoredOnceCheckedOnReading) {
  TempDir dir;
  const std::string bytes = std::string("bulk\0data", 9);
  const std::string hash = store_blob(dir.path(), bytes);
  EXPECT_EQ(hash, sha256_hex(bytes));
  EXPECT_EQ(store_blob(dir.path(), bytes), hash);
  EXPECT_EQ(load_blob(dir.path(), hash), bytes);
  std::ofstream(dir.path() / "blobs" / hash) << "other";
  EXPECT_THROW(load_blob(dir.path(), hash), Error);
  EXPECT_EQ(store_blob(dir.path(), bytes), hash);  // a cut blob is written again
  EXPECT_EQ(load_blob(dir.path(), hash), bytes);
  EXPECT_THROW(load_blob(dir.path(), "../../etc/passwd"), Error);
  EXPECT_THROW(load_blob(dir.path(), std::string(64, 'a')), Error);
}

}  // namespace
}  // namespace hyperloom
