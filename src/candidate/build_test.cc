// A tiny project without a compiler stands for the engine: what is tested is how cmake is driven.
#include "candidate/build.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "candidate/cache_lock.h"

namespace hyperloom {
namespace {

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = std::make_unique<std::string>(old);
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_) ::setenv(name_, old_->c_str(), 1);
    else ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::unique_ptr<std::string> old_;
};

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
