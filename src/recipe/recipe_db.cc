#include "recipe/recipe_db.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "recipe/recipe_file.h"
#include "recipe/recipe_item.h"
#include "recipe/recipe_key.h"

namespace hyperloom {
namespace {

constexpr double kPriorWeight = 4;   // replays that the starting confidence is worth
constexpr const char* kRecipeColumns =
    "key_id, model, hardware, framework, model_type, architecture, framework_version, build_hash, precision, workload_class, "
    "model_name, session, speedup, low, high, sha256";

std::string recipe_hash(const Recipe& r) {
  return sha256_hex(canonical_text({{"key", r.key.to_json_value()}, {"model_name", r.model_name}, {"session", r.session},
                                    {"speedup", r.speedup}, {"low", r.low}, {"high", r.high}}));
}

// With the key, so that an item cannot be moved to another recipe.
std::string item_hash(const std::string& key_id, const std::string& content) { return sha256_hex(key_id + "\n" + content); }

std::string replay_hash(const std::string& relaxed, int tried, int held) {
  return sha256_hex(canonical_text({{"relaxed", relaxed}, {"tried", tried}, {"held", held}}));
}

// Nothing when the row was edited.
std::optional<Recipe> recipe_of(SQLite::Statement& row) {
  Recipe r;
  int at = 1;
  for (std::string* text : {&r.key.model, &r.key.hardware, &r.key.framework, &r.key.model_type, &r.key.architecture,
                            &r.key.framework_version, &r.key.build_hash, &r.key.precision, &r.key.workload_class, &r.model_name,
                            &r.session}) {
    *text = row.getColumn(at++).getString();
  }
  for (double* number : {&r.speedup, &r.low, &r.high}) *number = row.getColumn(at++).getDouble();
  if (row.getColumn(at).getString() != recipe_hash(r) || row.getColumn(0).getString() != r.key.id()) return {};
  return r;
}

// Only a proven gain makes a champion: its interval lies above 1.
bool proven_gain(const Recipe& r) {
  return std::isfinite(r.speedup) && std::isfinite(r.low) && std::isfinite(r.high) && r.low > 1 && r.speedup >= r.low &&
         r.high >= r.speedup && !r.session.empty();
}

}  // namespace

struct RecipeDb::Impl {
  RecipeFile file;
  SQLite::Database& db() { return *file.db; }

  void note(const std::string& text) {
    if (file.notice.find(text) != std::string::npos) return;   // one line a cause, however often it is met
    file.notice += (file.notice.empty() ? "" : "; ") + text;
  }

  // A fault of the file costs the recipes, not the session.
  template <class Work>
  void guarded(const char* what, Work work) {
    try {
      work();
    } catch (const SQLite::Exception& e) {
      note(std::string("recipes: ") + what + ": " + e.what());
    }
  }

  std::vector<RecipeItem> items_of(const std::string& key_id) {
    std::vector<RecipeItem> items;
    SQLite::Statement rows(db(), "SELECT content, sha256 FROM items WHERE key_id = ? ORDER BY id");
    rows.bind(1, key_id);
    while (rows.executeStep()) {
      const std::string content = rows.getColumn(0).getString();
      bool good = rows.getColumn(1).getString() == item_hash(key_id, content);
      if (good) {
        try {
          RecipeItem item = item_from_json(Json::parse(content));
          good = unproven(item).empty();
          if (good) items.push_back(std::move(item));
        } catch (const std::exception&) {
          good = false;
        }
      }
      if (!good) note("an item of recipe " + key_id.substr(0, 12) + " was edited by another hand and is ignored");
    }
    return pool_items(items);
  }

  std::vector<Recipe> recipes(const std::string& where = "", const std::vector<std::string>& values = {}) {
    std::vector<Recipe> found;
    SQLite::Statement rows(db(), std::string("SELECT ") + kRecipeColumns + " FROM recipes " + where + " ORDER BY key_id");
    for (size_t i = 0; i < values.size(); ++i) rows.bind(static_cast<int>(i) + 1, values[i]);
    while (rows.executeStep()) {
      std::optional<Recipe> recipe = recipe_of(rows);
      if (!recipe) {
        note("recipe " + rows.getColumn(0).getString().substr(0, 12) + " was edited by another hand and is ignored");
        continue;
      }
      recipe->items = items_of(recipe->key.id());
      found.push_back(std::move(*recipe));
    }
    return found;
  }

  void put_recipe(const Recipe& r, const std::string& key_id) {
    SQLite::Statement put(db(), std::string("INSERT OR REPLACE INTO recipes (") + kRecipeColumns +
                                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    int at = 1;
    for (const std::string& text : {key_id, r.key.model, r.key.hardware, r.key.framework, r.key.model_type, r.key.architecture,
                                    r.key.framework_version, r.key.build_hash, r.key.precision, r.key.workload_class,
                                    r.model_name, r.session}) {
      put.bind(at++, text);
    }
    for (const double number : {r.speedup, r.low, r.high}) put.bind(at++, number);
    put.bind(at, recipe_hash(r));
    put.exec();
  }

  struct Replays {
    int tried = 0, held = 0;
  };
  Replays replays(const std::string& relaxed) {
    SQLite::Statement row(db(), "SELECT tried, held, sha256 FROM replays WHERE relaxed = ?");
    row.bind(1, relaxed);
    if (!row.executeStep()) return {};
    const Replays counts{row.getColumn(0).getInt(), row.getColumn(1).getInt()};
    if (counts.held < 0 || counts.tried < counts.held || row.getColumn(2).getString() != replay_hash(relaxed, counts.tried, counts.held)) {
      note("the replay counts were edited by another hand and are ignored");
      return {};
    }
    return counts;
  }
};

RecipeDb::RecipeDb() : impl_(std::make_unique<Impl>()) {}
RecipeDb::~RecipeDb() = default;

std::unique_ptr<RecipeDb> RecipeDb::open(const std::filesystem::path& file) {
  std::unique_ptr<RecipeDb> db(new RecipeDb);
  db->impl_->file = open_recipe_file(file);
  return db;
}

const std::string& RecipeDb::notice() const { return impl_->file.notice; }

int RecipeDb::write(const Recipe& recipe) {
  int stored = 0;
  impl_->guarded("not written", [&] {
    const std::string key_id = recipe.key.id();
    Recipe champion = recipe;
    if (!proven_gain(recipe)) {
      if (recipe.speedup > 1) impl_->note("recipe " + key_id.substr(0, 12) + ": the session's speed-up is not proven and not kept");
      champion.speedup = champion.low = champion.high = 0;
    }
    WriteTransaction transaction(impl_->db());
    const std::vector<Recipe> before = impl_->recipes("WHERE key_id = ?", {key_id});
    if (before.empty() || champion.speedup > before[0].speedup) impl_->put_recipe(champion, key_id);
    int items = 0;
    for (const RecipeItem& item : recipe.items) {
      if (const std::string why = unproven(item); !why.empty()) {
        impl_->note("item " + item.change.knob + " " + item.change.value + " is not kept: " + why);
        continue;
      }
      const std::string content = canonical_text(item_json(item));
      SQLite::Statement put(impl_->db(), "INSERT OR IGNORE INTO items (key_id, content, sha256) VALUES (?, ?, ?)");
      put.bind(1, key_id);
      put.bind(2, content);
      put.bind(3, item_hash(key_id, content));
      put.exec();
      ++items;
    }
    transaction.commit();
    if (!impl_->file.in_memory) stored = items;
  });
  return stored;
}

double RecipeDb::confidence(const std::string& relaxed) const {
  double value = 0;
  for (const Relaxation& r : relaxations()) {
    if (relaxed != r.name) continue;
    value = r.confidence;
    impl_->guarded("replay counts not read", [&] {
      const Impl::Replays counts = impl_->replays(relaxed);
      // Mean of a Beta posterior whose prior has the starting value as its mean.
      value = (r.confidence * kPriorWeight + counts.held) / (kPriorWeight + counts.tried);
    });
  }
  return value;
}

void RecipeDb::record_replay(const std::string& relaxed, bool held) {
  const auto& all = relaxations();
  if (std::none_of(all.begin(), all.end(), [&](const Relaxation& r) { return relaxed == r.name; }))
    throw internal_error("replay of an unknown relaxation `" + relaxed + "`");
  impl_->guarded("replay not recorded", [&] {
    WriteTransaction transaction(impl_->db());
    Impl::Replays counts = impl_->replays(relaxed);
    counts.tried += 1;
    counts.held += held;
    SQLite::Statement put(impl_->db(), "INSERT OR REPLACE INTO replays (relaxed, tried, held, sha256) VALUES (?, ?, ?, ?)");
    put.bind(1, relaxed);
    put.bind(2, counts.tried);
    put.bind(3, counts.held);
    put.bind(4, replay_hash(relaxed, counts.tried, counts.held));
    put.exec();
    transaction.commit();
  });
}

std::vector<RecipeMatch> RecipeDb::match(const RecipeKey& key, double min_confidence) const {
  std::vector<RecipeMatch> matches;
  impl_->guarded("not read", [&] {
    // The columns that are never relaxed; relaxation_between decides on the rest.
    for (Recipe& recipe : impl_->recipes("WHERE framework = ? AND model_type = ? AND architecture = ? AND precision = ?",
                                         {key.framework, key.model_type, key.architecture, key.precision})) {
      const std::optional<Relaxation> relaxation = relaxation_between(key, recipe.key);
      if (!relaxation) continue;
      const double trust = confidence(relaxation->name);
      // A rounded tie counts: 0.7 starts out replayable at a threshold of 0.7.
      if (trust + 1e-9 >= min_confidence) matches.push_back({std::move(recipe), relaxation->name, trust});
    }
  });
  // The exact match leads whatever its replays taught; then trust, then the greater gain.
  std::stable_sort(matches.begin(), matches.end(), [](const RecipeMatch& a, const RecipeMatch& b) {
    if (a.relaxed.empty() != b.relaxed.empty()) return a.relaxed.empty();
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.recipe.speedup > b.recipe.speedup;
  });
  return matches;
}

std::vector<Recipe> RecipeDb::list() const {
  std::vector<Recipe> found;
  impl_->guarded("not read", [&] { found = impl_->recipes(); });
  return found;
}

bool RecipeDb::forget(const std::string& prefix) {
  if (prefix.size() < 4 || prefix.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  bool any = false;
  impl_->guarded("not forgotten", [&] {
    WriteTransaction transaction(impl_->db());
    for (const char* table : {"items", "recipes"}) {
      SQLite::Statement drop(impl_->db(), std::string("DELETE FROM ") + table + " WHERE substr(key_id, 1, ?) = ?");
      drop.bind(1, static_cast<int>(prefix.size()));
      drop.bind(2, prefix);
      any = drop.exec() > 0 || any;
    }
    transaction.commit();
  });
  return any;
}

Json RecipeDb::export_all() const {
  Json recipes = Json::array();
  for (const Recipe& r : list()) {
    Json items = Json::array();
    for (const RecipeItem& item : r.items) items.push_back(item_json(item));
    Json json = {{"key", r.key.to_json_value()}, {"id", r.key.id()}, {"model_name", r.model_name}, {"session", r.session}, {"items", items}};
    if (r.speedup > 0) json.update({{"speedup", r.speedup}, {"low", r.low}, {"high", r.high}});
    recipes.push_back(json);
  }
  Json confidences = Json::object();
  for (const Relaxation& r : relaxations()) confidences[*r.name ? r.name : "exact"] = confidence(r.name);
  return {{"schema", 1}, {"recipes", recipes}, {"confidence", confidences}};
}

}  // namespace hyperloom
