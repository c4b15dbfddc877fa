#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/commands.h"
#include "recipe/recipe_db.h"

namespace hyperloom {
namespace {

// Tells its notice when it goes: what is wrong with a row shows only when the row is read.
class OpenDb {
 public:
  OpenDb() : db_(RecipeDb::open(data_root() / "recipes.db")) {}
  OpenDb(const OpenDb&) = delete;
  ~OpenDb() {
    if (!db_->notice().empty()) std::fprintf(stderr, "note: %s\n", printable(db_->notice()).c_str());
  }
  RecipeDb* operator->() { return db_.get(); }

 private:
  std::unique_ptr<RecipeDb> db_;
};

}  // namespace

int recipes_list_command() {
  OpenDb db;
  auto recipes = db->list();
  if (recipes.empty()) std::printf("no recipes yet: a session that proves a gain leaves one\n");
  for (const Recipe& r : recipes)
    std::printf("%s  %.2fx [%.2f, %.2f]  %-32s %-12s %s, %zu items\n", r.key.id().substr(0, 12).c_str(), r.speedup, r.low, r.high,
                r.model_name.c_str(), r.key.framework.c_str(), r.key.workload_class.c_str(), r.items.size());
  return 0;
}

int recipes_show_command(const std::string& key) {
  OpenDb db;
  for (const Recipe& r : db->list()) {
    if (!starts_with(r.key.id(), key)) continue;
    std::printf("key      %s\n%s\n", r.key.id().c_str(), r.key.to_json_value().dump(2).c_str());
    std::printf("session  %s: %.3fx [%.3f, %.3f]\n", r.session.c_str(), r.speedup, r.low, r.high);
    for (const RecipeItem& item : r.items)
      std::printf("  %-28s %-12s %2d pairs  mean log %+.4f  sd %.4f%s%s\n", item.change.text().c_str(), item.verdict.c_str(), item.pairs,
                  item.mean_log, item.var_log > 0 ? std::sqrt(item.var_log) : 0.0, item.signature.empty() ? "" : "  ", item.signature.c_str());
    return 0;
  }
  throw bad_input("no recipe with key " + key, "`hyperloom recipes list` shows the keys");
}

int recipes_forget_command(const std::string& key) {
  if (key.size() < 4) throw bad_input("key `" + key + "` is too short to forget something by", "give at least 4 digits");
  if (!OpenDb()->forget(key)) throw bad_input("no recipe with key " + key, "`hyperloom recipes list` shows the keys");
  std::printf("forgotten\n");
  return 0;
}

int recipes_export_command() {
  std::printf("%s\n", OpenDb()->export_all().dump(2).c_str());
  return 0;
}

}  // namespace hyperloom
