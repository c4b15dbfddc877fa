// What finished sessions taught: a SQLite file. Gains come only from proven sessions; hashes are checked on reading;
// a corrupt or newer file is set aside with a notice, never a reason to stop a session.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "candidate/candidate.h"

namespace hyperloom {

struct RecipeKey {      // docs/formats.md, "Recipe key"
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

struct RecipeMatch { Recipe recipe; std::string relaxed; double confidence = 1; };   // relaxed: "" = exact

class RecipeDb {
 public:
  // Opens or creates; `notice()` says when a corrupt or newer file was set aside (renamed) or the folder is read-only (then memory only).
  static std::unique_ptr<RecipeDb> open(const std::filesystem::path& file);
  ~RecipeDb();
  const std::string& notice() const;

  void write(const Recipe& recipe);                              // champion monotone: a slower one for the same key adds items only
  std::vector<RecipeMatch> match(const RecipeKey& key, double min_confidence = 0.7) const;   // best first
  std::vector<Recipe> list() const;
  bool forget(const std::string& key_id_prefix);
  Json export_all() const;

 private:
  RecipeDb();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperloom
