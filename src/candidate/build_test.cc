// A tiny project without a compiler stands for the engine: what is tested is how cmake is driven.
#include "candidate/build.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "candidate/cache_lock.h"
#include "candidate/variable_for_test.h"

namespace hyperloom {
namespace {

fs::path find_program(const std::string& name) {
  for (const std::string& folder : split(std::getenv("PATH"), ':'))
    if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
  return {};
}

TEST(Build, WithoutNinjaAndByTheFlagsOfTheEnvironment) {
  const TempDir folder;
  const fs::path bin = folder.path() / "bin", source = folder.path() / "source";
  make_folders(bin);
  make_folders(source);
  for (const char* name : {"cmake", "make", "nice"}) {
    const fs::path program = find_program(name);
    if (program.empty()) GTEST_SKIP() << "no " << name;
    fs::create_symlink(fs::canonical(program), bin / name);
  }
  write_file(source / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.22)\nproject(tiny LANGUAGES NONE)\n"
             "add_custom_target(server COMMAND ${CMAKE_COMMAND} -E touch server)\n"
             "add_custom_target(tool COMMAND ${CMAKE_COMMAND} -E touch tool)\n");
  const Variable path("PATH", bin), cache("HYPERLOOM_CACHE", folder.path() / "cache");
  const Variable plain("CFLAGS", ""), plain_cxx("CXXFLAGS", ""), plain_ld("LDFLAGS", "");
  Pack pack;
  pack.name = "tiny";
  pack.server_binary = "server";
  pack.build_targets = {"server", "tool"};
  BuildRecipe recipe;
  recipe.id = "portable";
  const BuildResult made = build_engine(pack, recipe, source, {}, 120, nullptr);
  ASSERT_TRUE(made.ok) << made.error;
  EXPECT_FALSE(made.from_cache);
  EXPECT_TRUE(fs::exists(made.folder / "server"));
  EXPECT_TRUE(fs::exists(made.folder / "tool"));
  EXPECT_TRUE(build_engine(pack, recipe, source, {}, 120, nullptr).from_cache);
  for (const char* name : {"CFLAGS", "CXXFLAGS", "LDFLAGS"}) {
    const Variable flags(name, "-O1");
    // Nothing can be built in no time: only the key matters here.
    const BuildResult rushed = build_engine(pack, recipe, source, {}, 0, nullptr);
    EXPECT_NE(rushed.key, made.key) << name;
    EXPECT_TRUE(!rushed.ok && rushed.out_of_time) << rushed.error;
  }
}

// A project whose configuration runs `commands`, and which makes an empty server.
class SmallBuild : public testing::Test {
 protected:
  SmallBuild() {
    pack_.name = "tiny";
    pack_.server_binary = "server";
    pack_.build_targets = {"server"};
    recipe_.id = "portable";
  }
  BuildResult build(const std::string& commands = "") {
    make_folders(folder_.path() / "source");
    write_file(folder_.path() / "source" / "CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.22)\nproject(tiny LANGUAGES NONE)\n" + commands +
                   "\nadd_custom_target(server COMMAND ${CMAKE_COMMAND} -E touch server)\n");
    return build_engine(pack_, recipe_, folder_.path() / "source", {}, 120, nullptr);
  }

  const TempDir folder_;
  const Variable cache_{"HYPERLOOM_CACHE", (folder_.path() / "cache").string()};
  Pack pack_;
  BuildRecipe recipe_;
};

TEST_F(SmallBuild, ACacheThatGivesNoLockServesWhatItHolds) {
  if (find_program("cmake").empty()) GTEST_SKIP() << "no cmake";
  const BuildResult made = build();
  ASSERT_TRUE(made.ok) << made.error;
  const fs::path lock = made.folder.string() + ".lock";
  fs::remove(lock);
  make_folders(lock);   // stands for a read-only cache, which is writable for root
  EXPECT_TRUE(build().from_cache);
}

TEST_F(SmallBuild, AFullDiskIsNoEvidence) {
  if (find_program("cmake").empty()) GTEST_SKIP() << "no cmake";
  const BuildResult full = build("message(FATAL_ERROR \"write: No space left on device\")");
  EXPECT_FALSE(full.ok);
  EXPECT_TRUE(full.out_of_time);
  EXPECT_NE(full.error.find("HYPERLOOM_CACHE"), std::string::npos) << full.error;
  const BuildResult broken = build("message(FATAL_ERROR \"no such feature\")");
  EXPECT_FALSE(broken.ok);
  EXPECT_FALSE(broken.out_of_time) << broken.error;
}

TEST_F(SmallBuild, ACacheThatCannotBeMadeIsNamedWithItsMend) {
  write_file(folder_.path() / "cache", "a file in the way");
  try {
    build();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(error.mend().find("HYPERLOOM_CACHE"), std::string::npos) << error.what();
  }
}

TEST(CacheLock, LeftOversOfTheTargetGoAndNothingElse) {
  const TempDir folder;
  const fs::path target = folder.path() / "m-Q8_0.gguf";
  write_file(target.string() + ".partial.1", "half");
  make_folders(target.string() + ".partial.99");
  write_file(target.string() + ".partial.99/inside", "half");
  write_file(target.string() + ".lock", "");
  write_file(folder.path() / "m-Q4_0.gguf.partial.1", "somebody else's");
  remove_left_over(target);
  EXPECT_FALSE(fs::exists(target.string() + ".partial.1"));
  EXPECT_FALSE(fs::exists(target.string() + ".partial.99"));
  EXPECT_TRUE(fs::exists(target.string() + ".lock"));
  EXPECT_TRUE(fs::exists(folder.path() / "m-Q4_0.gguf.partial.1"));
  remove_left_over(folder.path() / "absent" / "x");
}

TEST(Source, AFetchThatIsToldToStopEndsAsInterrupted) {
  const TempDir folder;
  const Variable cache("HYPERLOOM_CACHE", folder.path());
  const volatile bool stop = true;
  Pack pack;
  pack.name = "tiny";
  pack.source = {{"npm", "tiny@1.0.0"}, {"git", "https://127.0.0.1:1/x"}, {"commit", std::string(40, 'a')}};
  const auto kind_of = [](const auto& fetch) {
    try {
      fetch();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Internal;
  };
  EXPECT_EQ(kind_of([&] { fetch_source(pack, nullptr, &stop); }), ErrorKind::Interrupted);
  EXPECT_EQ(kind_of([&] { fetch_demo_model(nullptr, &stop); }), ErrorKind::Interrupted);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().string().find(".partial."), std::string::npos) << entry.path();
}

}  // namespace
}  // namespace hyperloom
