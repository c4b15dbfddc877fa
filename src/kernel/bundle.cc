#include "kernel/bundle.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "candidate/facts.h"
#include "engine/expression.h"

namespace hyperloom {
namespace {

const char* const kManifest = "manifest.json";

// True unless the condition is about the machine alone and fails: the rest only the session knows.
bool may_apply(const BuildRecipe& recipe, const Facts& facts) {
  for (const std::string& name : names_in(recipe.when))
    if (!starts_with(name, "machine.")) return true;
  return holds(recipe.when, facts);
}

// As it will be configured here: a backend sees the compiler's name, not our variable.
BuildRecipe with_compilers(BuildRecipe recipe) {
  const Clang clang = find_clang();
  for (std::string& argument : recipe.configure)
    argument = replace_all(replace_all(argument, "${clang++}", clang.cxx), "${clang}", clang.c);
  return recipe;
}

Json task_json(const KernelTask& task, const BackendLimits& limits, double deadline_unix_s) {
  return {{"protocol", kBackendProtocol},
          {"task_id", task.task_id},
          {"nonce", task.nonce},
          {"lane", task.lane},
          {"deadline", deadline_unix_s},
          {"current_build", task.current_build},
          {"failed_builds", task.failed_builds},
          {"limits",
           {{"memory_bytes", limits.memory_bytes},
            {"output_bytes", limits.output_bytes},
            {"entries", limits.entries},
            {"candidates", limits.candidates},
            {"silence_s", limits.silence_s},
            {"cores", task.machine.cores}}}};
}

Json recipes_json(const KernelTask& task) {
  Json json = {{"recipes", Json::array()}};
  for (const BuildRecipe& recipe : offered_recipes(task)) json["recipes"].push_back(recipe);
  for (const BuildRecipe& recipe : task.pack->builds)
    if (recipe.id == task.current_build)
      json["current"] = with_compilers(recipe);  // candidates are read against it
  return json;
}

std::vector<std::string> files_under(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory() || entry.is_symlink())
      files.push_back(fs::relative(entry.path(), folder).string());
  std::sort(files.begin(), files.end());
  return files;
}

void take_write_bits(const fs::path& folder) {
  const auto writes = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    fs::permissions(entry.path(), writes, fs::perm_options::remove);
  fs::permissions(folder, writes, fs::perm_options::remove);
}

}  // namespace

void to_json(Json& json, const BuildRecipe& recipe) {
  json = {{"id", recipe.id},     {"configure", recipe.configure}, {"env", recipe.env},
          {"when", recipe.when}, {"role", recipe.role},           {"directions", Json::array()}};
  for (const Direction direction : recipe.directions)
    json["directions"].push_back(name_of(direction));
}

void from_json(const Json& json, BuildRecipe& recipe) {
  json.at("id").get_to(recipe.id);
  json.at("configure").get_to(recipe.configure);
  json.at("env").get_to(recipe.env);
  json.at("when").get_to(recipe.when);
  json.at("role").get_to(recipe.role);
  for (const std::string name : json.at("directions"))
    if (const auto direction = direction_from(name)) recipe.directions.push_back(*direction);
}

std::vector<BuildRecipe> offered_recipes(const KernelTask& task) {
  const Facts facts = gather_facts(*task.pack, ModelFacts(), task.machine, Workload(), Candidate());
  std::vector<BuildRecipe> offered;
  for (const BuildRecipe& recipe : task.pack->builds)
    if (recipe.role == "tune" && may_apply(recipe, facts))
      offered.push_back(with_compilers(recipe));
  return offered;
}

std::vector<std::string> compilers_of(const BuildRecipe& recipe) {
  std::set<std::string> names;
  for (const std::string& word : recipe.configure) {
    if (!starts_with(word, "-DCMAKE_")) continue;
    const auto key_end = word.find_first_of(":=");
    const auto value = word.find('=');
    if (value != std::string::npos && ends_with(word.substr(0, key_end), "_COMPILER"))
      names.insert(word.substr(value + 1));
  }
  for (const char* variable : {"CC", "CXX"})
    if (const auto found = recipe.env.find(variable); found != recipe.env.end())
      if (const auto words = split_words(found->second); !words.empty())
        names.insert(words.front());
  return {names.begin(), names.end()};
}

std::vector<std::string> compilers_of(const std::vector<BuildRecipe>& recipes) {
  std::set<std::string> names;
  for (const BuildRecipe& recipe : recipes)
    for (const std::string& name : compilers_of(recipe)) names.insert(name);
  return {names.begin(), names.end()};
}

void write_bundle(const fs::path& folder, const KernelTask& task, const BackendLimits& limits,
                  double deadline_unix_s, const Toolchain& toolchain) {
  make_folders(folder / "profile");
  const auto write = [&folder](const char* name, const Json& json) {
    write_file(folder / name, json.dump(1) + "\n");
  };
  write("task.json", task_json(task, limits, deadline_unix_s));
  write("hardware.json", task.machine);
  write("toolchain.json", toolchain);
  write("recipes.json", recipes_json(task));
  write("profile/kernels.json", task.kernels);
  Json manifest = {{"schema", 1}, {"files", Json::object()}};
  for (const std::string& file : files_under(folder))
    manifest["files"][file] = sha256_file(folder / file);
  write(kManifest, manifest);
  take_write_bits(folder);
}

std::string bundle_damage(const fs::path& folder) {
  const Json manifest = Json::parse(read_file(folder / kManifest), nullptr, false);
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_object())
    return std::string(kManifest) + " is not a manifest";
  const Json& files = manifest["files"];
  for (const auto& [name, hash] : files.items()) {
    std::error_code missing;
    if (!fs::is_regular_file(fs::symlink_status(folder / name, missing)))
      return name + " is missing";
    if (hash != sha256_file(folder / name)) return name + " differs from its hash";
  }
  for (const std::string& name : files_under(folder))
    if (name != kManifest && !files.contains(name)) return name + " is not in the manifest";
  return "";
}

void remove_tree(const fs::path& folder) {
  std::error_code error;
  if (fs::symlink_status(folder, error).type() == fs::file_type::not_found) return;
  const auto open_up = [](const fs::directory_entry& entry) {
    std::error_code ignored;
    if (fs::is_directory(entry.symlink_status(ignored)))
      fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  };
  if (fs::is_directory(fs::symlink_status(folder, error))) {
    // Parents first, so that each folder is open by the time the walk enters it.
    open_up(fs::directory_entry(folder));
    for (auto at = fs::recursive_directory_iterator(
             folder, fs::directory_options::skip_permission_denied, error);
         at != fs::recursive_directory_iterator(); at.increment(error))
      open_up(*at);
  }
  fs::remove_all(folder, error);
  if (fs::symlink_status(folder, error).type() != fs::file_type::not_found)
    throw internal_error("cannot delete " + folder.string(),
                         "delete the folder by hand and run again");
}

}  // namespace hyperloom
