#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/error.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
}

// Sets a variable for one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = getenv(name)) old_ = old, had_ = true;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

TEST(Files, WritesAndReadsBackAnyBytes) {
  TempDir folder;
  const std::string content("a\0b\n\xff", 5);
  write_file(folder.path() / "f", content);
  EXPECT_EQ(read_file(folder.path() / "f"), content);
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(Files, ReadsWhatHasNoSize) { EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:")); }

TEST(Files, ReplacingKeepsTheModeAndTheOldContentUntilDone) {
  TempDir folder;
  const fs::path file = folder.path() / "f";
  write_file(file, "old");
  make_executable(file);
  std::ifstream reader(file);  // a reader of the old file goes on reading the old file
  write_file(file, "new");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
  EXPECT_EQ(read_file(file), "new");
  EXPECT_EQ(access(file.c_str(), X_OK), 0);
}

TEST(Files, AFailedWriteNamesThePathAndLeavesNothing) {
  TempDir folder;
  make_folders(folder.path() / "d" / "inside");  // rename onto a folder fails
  try {
    write_file(folder.path() / "d", "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    EXPECT_THAT(error.what(), HasSubstr((folder.path() / "d").string()));
    EXPECT_THAT(error.what(), HasSubstr("free there"));
  }
  EXPECT_EQ(entries(folder.path()), 1u);
  EXPECT_THROW(write_file(folder.path() / "none" / "f", "x"), Error);
}

TEST(Files, AWriteThatStopsHalfwayKeepsTheOldContentAndLeavesNoPart) {
  TempDir folder;
  const fs::path file = folder.path() / "f";
  write_file(file, "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_action =
      signal(SIGXFSZ, SIG_IGN);  // as on a full disk: a short write, then an error
  const rlimit small{65536, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_file(file, std::string(1 << 20, 'x')), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_action);
  EXPECT_EQ(read_file(file), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(Files, MissingFilesAreBadInput) {
  try {
    read_file("/nonexistent/file");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/file"));
  }
}

TEST(Files, MakeFoldersSaysWhatIsInTheWay) {
  TempDir folder;
  make_folders(folder.path() / "a" / "b");
  make_folders(folder.path() / "a" / "b");
  write_file(folder.path() / "f", "");
  EXPECT_THROW(make_folders(folder.path() / "f"), Error);
  EXPECT_THROW(make_folders(folder.path() / "f" / "g"), Error);
}

TEST(Files, RootsFollowTheEnvironment) {
  Environment own("HYPERLOOM_CACHE", nullptr), xdg("XDG_CACHE_HOME", nullptr),
      home("HOME", "/home/u");
  EXPECT_EQ(cache_root(), "/home/u/.cache/hyperloom");
  {
    Environment set("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(cache_root(), "/x/hyperloom");
    Environment over("HYPERLOOM_CACHE", "/own");
    EXPECT_EQ(cache_root(), "/own");
  }
  Environment none("HOME", nullptr);
  EXPECT_THROW(cache_root(), Error);
}

TEST(Files, EnginesComeFromTheVariableOrTheSourceTree) {
  {
    Environment set("HYPERLOOM_ENGINES", "/packs");
    EXPECT_EQ(engines_root(), "/packs");
  }
  Environment unset("HYPERLOOM_ENGINES", nullptr);
  EXPECT_EQ(engines_root().filename(), "engines");
}

TEST(Files, TempDirGoesWithItsOwner) {
  fs::path path;
  {
    TempDir folder("hl-test");
    path = folder.path();
    write_file(path / "f", "x");
    TempDir moved = std::move(folder);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Files, WhatOthersWroteIsMovedWholeOrNotAtAll) {
  TempDir dir;
  const fs::path from = dir.path() / "part", to = dir.path() / "whole";
  write_file(from, "new");
  write_file(to, "old");
  move_into_place(from, to);
  EXPECT_EQ(read_file(to), "new");
  EXPECT_FALSE(fs::exists(from));
  EXPECT_THROW(move_into_place(from, to), Error);
  EXPECT_EQ(read_file(to), "new");
}

TEST(Files, AFullDiskIsKnownByAToolsWords) {
  TempDir dir;
  EXPECT_TRUE(disk_full(dir.path(), "fatal error: error writing to a.o: No space left on device\n"));
  EXPECT_TRUE(disk_full(dir.path(), "cp: Disk quota exceeded\n"));
  EXPECT_FALSE(disk_full(dir.path(), "error: expected ';'\n"));
  EXPECT_FALSE(disk_full(dir.path() / "absent", ""));
}

}  // namespace
}  // namespace hyperloom
