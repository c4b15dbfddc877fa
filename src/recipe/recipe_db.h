// What finished sessions taught: a SQLite file. Gains come only from proven sessions; hashes are checked on reading;
// a corrupt file is set aside, a newer one left alone, each with a notice: never a reason to stop a session.
// Several processes may share one file. Items of one change are pooled when read (item_pool.h).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "candidate/candidate.h"

namespace hyperloom {

// docs/formats.md, "Recipe key". Texts that relaxation reads, as recipe/recipe_key.h writes them:
//   hardware          = vendor|chip|count|isa isa ...|cores
//   framework_version = release [blank commit]; release = 0.8.3, v0.8.3, b9135
//   workload_class    = kind|clients or rate bucket|prompt bucket|output bucket|objective
struct RecipeKey {
  std::string model, hardware, framework, model_type, architecture, framework_version, precision, workload_class;
  std::string build_hash;              // part of framework_version, relaxed first
  Json to_json_value() const;
  std::string id() const;              // SHA-256 of canonical JSON with key_version 1
};

struct RecipeItem {
  Change change;
  int pairs = 0;
  double mean_log = 0, var_log = 0;    // var of the mean
  std::vector<std::string> legs;       // sha256
  std::string verdict;                 // faster | not_useful | unresolvable | quality | failed
  std::string session, signature;      // signature: of a failure
};

struct Recipe { RecipeKey key; std::string model_name, session; double speedup = 0, low = 0, high = 0; std::vector<RecipeItem> items; };

// relaxed: "" = exact, "build hash", "workload bucket", "patch version", "model", "hardware" or "minor version".
struct RecipeMatch { Recipe recipe; std::string relaxed; double confidence = 1; };

class RecipeDb {
 public:
  // Opens or creates; `notice()` says when a corrupt or newer file was set aside (renamed) or the folder is read-only (then memory only).
  static std::unique_ptr<RecipeDb> open(const std::filesystem::path& file);
  ~RecipeDb();
  const std::string& notice() const;   // grows as reading and writing meet more

  // Champion monotone: a slower one for the same key adds items only. A gain without proof (its interval holds 1; an
  // item `faster` without 3 pairs, legs and a positive mean) is left out with a notice. Never throws: see notice().
  // How many of its items the file now holds: 0 when it could not be written, or only memory serves.
  int write(const Recipe& recipe);
  std::vector<RecipeMatch> match(const RecipeKey& key, double min_confidence = 0.7) const;   // best first
  // Whether a replay under this relaxation ("" = exact) still was an improvement: moves that relaxation's confidence.
  void record_replay(const std::string& relaxed, bool held);
  double confidence(const std::string& relaxed) const;           // posterior mean; 0 for an unknown relaxation
  std::vector<Recipe> list() const;
  bool forget(const std::string& key_id_prefix);                 // all keys that start so; false = none. At least 4 digits
  Json export_all() const;

 private:
  RecipeDb();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperloom
