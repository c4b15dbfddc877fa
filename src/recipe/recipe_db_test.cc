#include "recipe/recipe_db.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

RecipeKey key() {
  return {.model = "m1", .hardware = "amd|EPYC|1|avx2 avx512f|2", .framework = "llama.cpp", .model_type = "causal",
          .architecture = "llama", .framework_version = "0.8.3 abc", .precision = "Q4_1/f16",
          .workload_class = "closed|3|6|5|output_tok_s", .build_hash = "b1"};
}

RecipeItem item(const std::string& knob, const std::string& verdict = "faster", double mean = 0.1) {
  return {.change = {"flag", knob, "8"}, .pairs = 3, .mean_log = mean, .var_log = 0.0004, .legs = {"l1", "l2"},
          .verdict = verdict, .session = "s1"};
}

Recipe recipe(double speedup = 1.5) {
  return {.key = key(), .model_name = "SmolLM", .session = "s1", .speedup = speedup, .low = speedup - 0.1,
          .high = speedup + 0.1, .items = {item("-np")}};
}

class RecipeDbTest : public testing::Test {
 protected:
  TempDir folder_;
  fs::path file_ = folder_.path() / "data" / "recipes.db";
  std::unique_ptr<RecipeDb> open() { return RecipeDb::open(file_); }
  void sql(const std::string& text) { SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(text); }
};

TEST_F(RecipeDbTest, WhatWasWrittenIsReadByTheNextProcess) {
  EXPECT_EQ(open()->write(recipe()), 1);
  const auto db = open();
  EXPECT_EQ(db->notice(), "");
  const auto matches = db->match(key());
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].relaxed, "");
  EXPECT_EQ(matches[0].confidence, 1);
  EXPECT_EQ(matches[0].recipe.speedup, 1.5);
  EXPECT_EQ(matches[0].recipe.model_name, "SmolLM");
  ASSERT_EQ(matches[0].recipe.items.size(), 1u);
  EXPECT_EQ(matches[0].recipe.items[0].change.knob, "-np");
  EXPECT_EQ(matches[0].recipe.items[0].legs, (std::vector<std::string>{"l1", "l2"}));
}

TEST_F(RecipeDbTest, TheChampionNeverGetsSlower) {
  const auto db = open();
  db->write(recipe(1.5));
  Recipe slower = recipe(1.2);
  slower.session = "s2";
  slower.items = {item("-fa")};
  db->write(slower);
  ASSERT_EQ(db->list().size(), 1u);
  EXPECT_EQ(db->list()[0].speedup, 1.5);
  EXPECT_EQ(db->list()[0].session, "s1");
  EXPECT_EQ(db->list()[0].items.size(), 2u);
  db->write(recipe(1.8));
  EXPECT_EQ(db->list()[0].speedup, 1.8);
  EXPECT_EQ(db->list()[0].items.size(), 2u);   // the same item twice is one
}

TEST_F(RecipeDbTest, UnprovenGainsStayOut) {
  const auto db = open();
  Recipe bad = recipe(1.05);
  bad.low = 0.99;
  RecipeItem two_pairs = item("-a"), no_legs = item("-b"), negative = item("-c", "faster", -0.1), nan = item("-d");
  two_pairs.pairs = 2;
  no_legs.legs.clear();
  nan.mean_log = std::nan("");
  bad.items = {two_pairs, no_legs, negative, nan, item("-e", "not_useful", -0.2)};
  EXPECT_EQ(db->write(bad), 1);
  ASSERT_EQ(db->list().size(), 1u);
  EXPECT_EQ(db->list()[0].speedup, 0);
  ASSERT_EQ(db->list()[0].items.size(), 1u);
  EXPECT_EQ(db->list()[0].items[0].change.knob, "-e");
  EXPECT_THAT(db->notice(), HasSubstr("not proven"));
  EXPECT_THAT(db->notice(), HasSubstr("-a 8 is not kept: a gain needs 3 pairs, it has 2"));
}

TEST_F(RecipeDbTest, OneFieldRelaxedAtATimeBestFirst) {
  const auto db = open();
  const auto add = [&](auto change) {
    Recipe r = recipe();
    change(r.key);
    db->write(r);
  };
  add([](RecipeKey&) {});
  add([](RecipeKey& k) { k.build_hash = "b2"; });
  add([](RecipeKey& k) { k.framework_version = "0.8.9 def", k.build_hash = "b9"; });
  add([](RecipeKey& k) { k.model = "m2"; });
  add([](RecipeKey& k) { k.architecture = "qwen"; });
  add([](RecipeKey& k) { k.precision = "F16/f16"; });
  add([](RecipeKey& k) { k.model = "m2", k.build_hash = "b2"; });
  std::vector<std::string> relaxed;
  for (const RecipeMatch& m : db->match(key())) relaxed.push_back(m.relaxed);
  EXPECT_EQ(relaxed, (std::vector<std::string>{"", "build hash", "patch version", "model"}));
  EXPECT_EQ(db->match(key(), 0.9).size(), 2u);
}

TEST_F(RecipeDbTest, ConfidenceIsLearnedFromReplays) {
  const auto db = open();
  Recipe other = recipe();
  other.key.model = "m2";
  db->write(other);
  EXPECT_EQ(db->match(key()).size(), 1u);
  db->record_replay("model", false);
  EXPECT_NEAR(db->confidence("model"), 0.8 * 4 / 5, 1e-12);
  EXPECT_TRUE(db->match(key()).empty());
  for (int i = 0; i < 3; ++i) open()->record_replay("model", true);
  EXPECT_NEAR(db->confidence("model"), (0.8 * 4 + 3) / 8, 1e-12);
  EXPECT_EQ(db->match(key()).size(), 1u);
  EXPECT_NEAR(db->confidence("hardware"), 0.75, 1e-12);
  EXPECT_THROW(db->record_replay("weather", true), Error);
}

TEST_F(RecipeDbTest, EditedRowsAreIgnoredWithANotice) {
  Recipe r = recipe();
  r.items.push_back(item("-fa"));
  open()->write(r);
  open()->record_replay("model", false);
  sql("UPDATE items SET content = replace(content, '0.1', '0.9') WHERE content LIKE '%-fa%'");
  sql("UPDATE replays SET held = 1");
  auto db = open();
  ASSERT_EQ(db->match(key()).size(), 1u);
  EXPECT_EQ(db->match(key())[0].recipe.items.size(), 1u);
  EXPECT_THAT(db->notice(), HasSubstr("an item of recipe"));
  EXPECT_EQ(db->confidence("model"), 0.8);
  sql("UPDATE recipes SET speedup = 9.0");
  db = open();
  EXPECT_TRUE(db->match(key()).empty());
  EXPECT_THAT(db->notice(), HasSubstr("was edited by another hand"));
  db->write(recipe(1.2));   // heals: the edited 9 is no champion
  EXPECT_EQ(db->list()[0].speedup, 1.2);
}

TEST_F(RecipeDbTest, AnItemMovedToAnotherKeyIsIgnored) {
  open()->write(recipe());
  Recipe other = recipe();
  other.key.model = "m2";
  other.items.clear();
  open()->write(other);
  sql("UPDATE items SET key_id = '" + other.key.id() + "'");
  EXPECT_TRUE(open()->match(other.key)[0].recipe.items.empty());
}

TEST_F(RecipeDbTest, ACorruptFileIsSetAsideAndBegunAnew) {
  fs::create_directories(file_.parent_path());
  write_file(file_, std::string(4096, 'x'));
  const auto db = open();
  EXPECT_THAT(db->notice(), HasSubstr("corrupt; set aside as recipes.db.corrupt-"));
  db->write(recipe());
  EXPECT_EQ(open()->list().size(), 1u);
  int aside = 0;
  for (const auto& entry : fs::directory_iterator(file_.parent_path()))
    aside += entry.path().filename().string().find(".corrupt-") != std::string::npos;
  EXPECT_EQ(aside, 1);
}

TEST_F(RecipeDbTest, DamagedPagesAreSetAside) {
  {
    const auto db = open();
    for (int i = 0; i < 60; ++i) {
      Recipe r = recipe();
      r.key.model = "m" + std::to_string(i);
      db->write(r);
    }
  }
  std::string bytes = read_file(file_);
  ASSERT_GT(bytes.size(), 20000u);
  for (size_t i = 4096; i < bytes.size(); ++i) bytes[i] = 'Z';
  write_file(file_, bytes);
  const auto db = open();
  EXPECT_THAT(db->notice(), HasSubstr("corrupt"));
  EXPECT_TRUE(db->list().empty());
}

TEST_F(RecipeDbTest, ANewerFileIsLeftAloneAndMemoryServes) {
  open()->write(recipe());
  sql("PRAGMA user_version = 99");
  const std::string before = read_file(file_);
  const auto db = open();
  EXPECT_THAT(db->notice(), HasSubstr("newer hyperloom (schema 99, this one knows 1)"));
  EXPECT_THAT(db->notice(), HasSubstr("memory only"));
  db->write(recipe());
  EXPECT_EQ(db->list().size(), 1u);
  EXPECT_EQ(read_file(file_), before);
}

TEST_F(RecipeDbTest, AnotherProgramsDatabaseIsLeftAlone) {
  fs::create_directories(file_.parent_path());
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE songs (title TEXT)");
  const auto db = open();
  EXPECT_THAT(db->notice(), HasSubstr("another program's database"));
  sql("INSERT INTO songs VALUES ('still here')");
}

TEST_F(RecipeDbTest, WhereNothingCanBeWrittenMemoryServes) {
  write_file(folder_.path() / "data", "a file where the folder should be");
  const auto db = open();
  EXPECT_THAT(db->notice(), HasSubstr("memory only"));
  EXPECT_EQ(db->write(recipe()), 0) << "nothing outlives this process";
  EXPECT_EQ(db->match(key()).size(), 1u);
}

TEST_F(RecipeDbTest, AWriteThatFailsStoredNothing) {
  const auto db = open();
  db->write(recipe());
  sql("DROP TABLE items");
  EXPECT_EQ(db->write(recipe(1.9)), 0);
  EXPECT_THAT(db->notice(), HasSubstr("not written"));
}

TEST_F(RecipeDbTest, AReadOnlyFileStillTeaches) {
  open()->write(recipe());
  fs::permissions(file_, fs::perms::owner_read);
  fs::permissions(file_.parent_path(), fs::perms::owner_read | fs::perms::owner_exec);
  const pid_t child = fork();
  if (child == 0) {   // root may write anything: read as nobody
    if (geteuid() == 0) {
      fs::permissions(folder_.path(), fs::perms::others_all, fs::perm_options::add);
      fs::permissions(file_.parent_path(), fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
      fs::permissions(file_, fs::perms::others_read, fs::perm_options::add);
      if (setgid(65534) != 0 || setuid(65534) != 0) _exit(0);
    }
    const auto db = open();
    if (db->notice().find("memory only") == std::string::npos) _exit(1);
    if (db->match(key()).size() != 1) _exit(2);
    db->write(recipe(1.9));
    _exit(db->list()[0].speedup == 1.9 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  fs::permissions(file_.parent_path(), fs::perms::owner_all);
  EXPECT_EQ(open()->list()[0].speedup, 1.5);
}

TEST_F(RecipeDbTest, ManyProcessesWriteOneNewFile) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto db = open();
      for (int n = 0; n < 5; ++n) {
        Recipe r = recipe(1.2 + 0.1 * i);
        r.items = {item("-k" + std::to_string(i) + std::to_string(n))};
        db->write(r);
        db->record_replay("model", n % 2 == 0);
      }
      _exit(db->notice().empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto db = open();
  ASSERT_EQ(db->list().size(), 1u);
  EXPECT_EQ(db->list()[0].items.size(), 20u);
  EXPECT_NEAR(db->list()[0].speedup, 1.5, 1e-12);
  EXPECT_NEAR(db->confidence("model"), (0.8 * 4 + 12) / 24, 1e-12);
}

TEST_F(RecipeDbTest, ForgetByPrefix) {
  const auto db = open();
  db->write(recipe());
  EXPECT_FALSE(db->forget(""));
  EXPECT_FALSE(db->forget("%%%%"));
  EXPECT_FALSE(db->forget("0000000000000000"));
  EXPECT_TRUE(db->forget(key().id().substr(0, 8)));
  EXPECT_TRUE(db->list().empty());
}

TEST_F(RecipeDbTest, Export) {
  const auto db = open();
  db->write(recipe());
  const Json json = db->export_all();
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["recipes"][0]["id"], key().id());
  EXPECT_EQ(json["recipes"][0]["items"][0]["change"]["knob"], "-np");
  EXPECT_EQ(json["confidence"]["build hash"], 0.95);
}

}  // namespace
}  // namespace hyperloom
