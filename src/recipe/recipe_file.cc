#include "recipe/recipe_file.h"

#include <sqlite3.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace hyperloom {
namespace {

constexpr int kApplicationId = 0x484c5231;   // "HLR1", so that another program's file is never taken for ours
constexpr int kBusyMs = 10000;

enum class State { Ours, Fresh, Newer, Foreign, Corrupt };

std::unique_ptr<SQLite::Database> connect(const std::string& name, int flags) {
  return std::make_unique<SQLite::Database>(name, flags, kBusyMs);
}

int pragma(SQLite::Database& db, const std::string& name) { return db.execAndGet("PRAGMA " + name).getInt(); }

State state_of(SQLite::Database& db) {
  const int version = pragma(db, "user_version");
  const int tables = db.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
  if (tables == 0 && version == 0) return State::Fresh;
  if (pragma(db, "application_id") != kApplicationId) return State::Foreign;
  if (version > kRecipeSchema) return State::Newer;
  return db.execAndGet("PRAGMA quick_check(1)").getString() == "ok" ? State::Ours : State::Corrupt;
}

void make_tables(SQLite::Database& db) {
  const std::string strict = SQLite::getLibVersionNumber() >= 3037000 ? " STRICT" : "";
  WriteTransaction transaction(db);
  if (state_of(db) != State::Fresh) return;   // another process was first
  db.exec("CREATE TABLE recipes (key_id TEXT PRIMARY KEY, model TEXT NOT NULL, hardware TEXT NOT NULL, framework TEXT NOT NULL,"
          " model_type TEXT NOT NULL, architecture TEXT NOT NULL, framework_version TEXT NOT NULL, build_hash TEXT NOT NULL,"
          " precision TEXT NOT NULL, workload_class TEXT NOT NULL, model_name TEXT NOT NULL, session TEXT NOT NULL,"
          " speedup REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, sha256 TEXT NOT NULL)" + strict);
  db.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, key_id TEXT NOT NULL, content TEXT NOT NULL, sha256 TEXT NOT NULL,"
          " UNIQUE (key_id, sha256))" + strict);
  db.exec("CREATE TABLE replays (relaxed TEXT PRIMARY KEY, tried INTEGER NOT NULL, held INTEGER NOT NULL, sha256 TEXT NOT NULL)" +
          strict);
  db.exec("CREATE INDEX recipes_by_framework ON recipes (framework, model_type, architecture, precision)");
  db.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
  db.exec("PRAGMA user_version = " + std::to_string(kRecipeSchema));
  transaction.commit();
}

RecipeFile in_memory(const std::string& notice) {
  RecipeFile opened{connect(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE),
                    notice + "; recipes are kept in memory only", true};
  make_tables(*opened.db);
  return opened;
}

// A file that may be read but not written still teaches.
RecipeFile copy_to_memory(const fs::path& file, const std::string& why) {
  RecipeFile opened = in_memory(file.string() + ": " + why);
  try {
    const std::unique_ptr<SQLite::Database> source = connect(file.string(), SQLite::OPEN_READONLY);
    if (state_of(*source) != State::Ours) return opened;
    const std::unique_ptr<sqlite3_backup, int (*)(sqlite3_backup*)> copy(
        sqlite3_backup_init(opened.db->getHandle(), "main", source->getHandle(), "main"), sqlite3_backup_finish);
    if (!copy || sqlite3_backup_step(copy.get(), -1) != SQLITE_DONE) return in_memory(file.string() + ": " + why);
  } catch (const SQLite::Exception&) {
  }
  return opened;
}

// Free name beside the file. The journal goes along: it belongs to these pages and would spoil fresh ones.
fs::path set_aside(const fs::path& file) {
  std::string stamp;
  for (const char c : SystemClock().wall()) {
    if (c != '-' && c != ':' && c != '.') stamp += c;
  }
  fs::path target = file.string() + ".corrupt-" + stamp;
  for (int n = 2; fs::exists(target); ++n) target = file.string() + ".corrupt-" + stamp + "-" + std::to_string(n);
  fs::rename(file, target);
  std::error_code ignored;
  for (const char* part : {"-journal", "-wal", "-shm"}) {
    fs::rename(file.string() + part, target.string() + part, ignored);
  }
  return target;
}

RecipeFile open_existing_or_new(const fs::path& file) {
  RecipeFile opened{connect(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE), "", false};
  // SQLite falls back to reading when the file may not be written.
  if (sqlite3_db_readonly(opened.db->getHandle(), "main") == 1) return copy_to_memory(file, "may not be written");
  State state = state_of(*opened.db);
  if (state == State::Fresh) {
    make_tables(*opened.db);
    state = state_of(*opened.db);
  }
  const std::string name = file.string();
  switch (state) {
    case State::Ours: case State::Fresh: return opened;
    case State::Newer:
      return in_memory(name + ": written by a newer hyperloom (schema " + std::to_string(pragma(*opened.db, "user_version")) +
                       ", this one knows " + std::to_string(kRecipeSchema) + ") and left alone");
    case State::Foreign: return in_memory(name + ": is another program's database and left alone");
    case State::Corrupt: throw SQLite::Exception(name + ": quick_check failed", SQLITE_CORRUPT);
  }
  throw internal_error("recipe file in no state");
}

bool means_corrupt(const SQLite::Exception& e) {
  const int code = e.getErrorCode() & 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

}  // namespace

RecipeFile open_recipe_file(const fs::path& file) {
  try {
    if (file.has_parent_path()) make_folders(file.parent_path());
    return open_existing_or_new(file);
  } catch (const SQLite::Exception& e) {
    if (!means_corrupt(e)) {
      std::error_code ignored;
      return fs::is_regular_file(file, ignored) ? copy_to_memory(file, e.what())
                                                : in_memory(file.string() + ": " + e.what());
    }
  } catch (const Error& e) {
    return in_memory(e.what());
  }
  try {
    const fs::path aside = set_aside(file);
    RecipeFile opened = open_existing_or_new(file);
    opened.notice = file.string() + ": corrupt; set aside as " + aside.filename().string() + " and begun anew" +
                    (opened.notice.empty() ? "" : "; " + opened.notice);
    return opened;
  } catch (const std::exception& e) {
    return in_memory(file.string() + ": corrupt, and could not be set aside (" + e.what() + ")");
  }
}

WriteTransaction::~WriteTransaction() {
  if (!open_) return;
  try {
    db_.exec("ROLLBACK");
  } catch (const SQLite::Exception&) {   // SQLite rolled back on its own (disk full, I/O error)
  }
}

void WriteTransaction::commit() {
  db_.exec("COMMIT");
  open_ = false;
}

}  // namespace hyperloom
