// The SQLite file behind a RecipeDb: opened, checked, set aside.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <string>

namespace hyperloom {

constexpr int kRecipeSchema = 1;   // PRAGMA user_version

struct RecipeFile {
  std::unique_ptr<SQLite::Database> db;   // the file, or memory that goes with the process
  std::string notice;
  bool in_memory = false;
};

// Never fails: what cannot be used is left or set aside, and memory takes its place.
RecipeFile open_recipe_file(const std::filesystem::path& file);

// BEGIN IMMEDIATE: a writer waits for the other before it has read, so that it never decides on stale rows.
class WriteTransaction {
 public:
  explicit WriteTransaction(SQLite::Database& db) : db_(db) { db_.exec("BEGIN IMMEDIATE"); }
  ~WriteTransaction();
  WriteTransaction(const WriteTransaction&) = delete;
  void commit();

 private:
  SQLite::Database& db_;
  bool open_ = true;
};

}  // namespace hyperloom
