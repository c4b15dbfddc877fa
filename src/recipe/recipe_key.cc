#include "recipe/recipe_key.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"

namespace hyperloom {
namespace {

// `|` separates; a chip's name must not.
std::string cell(const std::string& text) { return trim(replace_all(text, "|", "/")); }

std::string bucket(double value) {
  return value > 0 ? std::to_string(static_cast<int>(std::floor(std::log2(value)))) : "-";
}

using Column = std::string RecipeKey::*;
constexpr std::array<Column, 9> kColumns = {&RecipeKey::model,        &RecipeKey::hardware,     &RecipeKey::framework,
                                            &RecipeKey::model_type,   &RecipeKey::architecture, &RecipeKey::framework_version,
                                            &RecipeKey::precision,    &RecipeKey::workload_class, &RecipeKey::build_hash};

std::vector<Column> differing(const RecipeKey& a, const RecipeKey& b) {
  std::vector<Column> columns;
  for (const Column column : kColumns) {
    if (a.*column != b.*column) columns.push_back(column);
  }
  return columns;
}

// "v0.8.3-rc1 (abc)" -> {"", "0", "8", "3"}; "b9135" -> {"b", "9135"}. First the letters in front, "v" being none.
std::vector<std::string> release_parts(const std::string& version) {
  const std::vector<std::string> words = split_words(version);
  const std::string release = words.empty() ? "" : words[0];
  size_t at = 0;
  while (at < release.size() && std::isalpha(static_cast<unsigned char>(release[at]))) ++at;
  const std::string letters = release.substr(0, at);
  std::vector<std::string> parts = {letters == "v" ? "" : letters};
  std::string digits;
  for (; at <= release.size(); ++at) {
    const char c = at < release.size() ? release[at] : '\0';
    if (std::isdigit(static_cast<unsigned char>(c))) {
      digits += c;
      continue;
    }
    if (digits.empty()) break;
    parts.push_back(digits);
    digits.clear();
    if (c != '.') break;
  }
  return parts;
}

// Releases numbered by one counter (b9135) count as minor versions of each other.
std::string version_step(const std::string& a, const std::string& b) {
  const std::vector<std::string> x = release_parts(a), y = release_parts(b);
  if (x.size() < 2 || y.size() < 2 || x[0] != y[0]) return "";
  if (x == y) return "patch version";   // another commit of the same release
  if (x.size() == 2 && y.size() == 2) return x[0].empty() ? "" : "minor version";
  if (x.size() < 3 || y.size() < 3 || x[1] != y[1]) return "";
  return x[2] == y[2] ? "patch version" : "minor version";
}

// Same kind and objective, and each number at most one bucket away.
bool neighbouring_workloads(const std::string& a, const std::string& b) {
  const std::vector<std::string> x = split(a, '|'), y = split(b, '|');
  if (x.size() != 5 || y.size() != 5 || x[0] != y[0] || x[4] != y[4]) return false;
  for (size_t i = 1; i < 4; ++i) {
    if (x[i] == y[i]) continue;
    const auto number = [](const std::string& text) {
      const bool digits = !text.empty() && text.size() < 6 && text.find_first_not_of("-0123456789") == std::string::npos;
      return digits && text != "-" ? std::atoi(text.c_str()) : 1000000;
    };
    if (std::abs(number(x[i]) - number(y[i])) > 1) return false;
  }
  return true;
}

bool same_instruction_sets(const std::string& a, const std::string& b) {
  const std::vector<std::string> x = split(a, '|'), y = split(b, '|');
  return x.size() == 5 && y.size() == 5 && x[3] == y[3] && !x[3].empty();
}

const Relaxation* named(const std::string& name) {
  for (const Relaxation& relaxation : relaxations()) {
    if (name == relaxation.name) return &relaxation;
  }
  return nullptr;
}

}  // namespace

const std::vector<Relaxation>& relaxations() {
  static const std::vector<Relaxation> kAll = {{"", 1.0},           {"build hash", 0.95}, {"workload bucket", 0.85},
                                               {"patch version", 0.85}, {"model", 0.8},       {"hardware", 0.75},
                                               {"minor version", 0.7}};
  return kAll;
}

std::optional<Relaxation> relaxation_between(const RecipeKey& asked, const RecipeKey& stored) {
  std::vector<Column> columns = differing(asked, stored);
  // The build hash belongs to the version: it changes with it and is no second difference.
  if (std::find(columns.begin(), columns.end(), &RecipeKey::framework_version) != columns.end()) {
    columns.erase(std::remove(columns.begin(), columns.end(), &RecipeKey::build_hash), columns.end());
  }
  if (columns.empty()) return *named("");
  if (columns.size() > 1) return {};
  const Column column = columns[0];
  if (column == &RecipeKey::build_hash) return *named("build hash");
  if (column == &RecipeKey::model) return *named("model");   // architecture and model_type are equal here
  if (column == &RecipeKey::workload_class && neighbouring_workloads(asked.workload_class, stored.workload_class))
    return *named("workload bucket");
  if (column == &RecipeKey::hardware && same_instruction_sets(asked.hardware, stored.hardware)) return *named("hardware");
  if (column == &RecipeKey::framework_version) {
    const std::string step = version_step(asked.framework_version, stored.framework_version);
    if (!step.empty()) return *named(step);
  }
  return {};   // framework, model type, architecture, precision: never
}

std::string hardware_text(const MachineFacts& machine) {
  // What kernels are chosen by; the hundred other flags would make every hypervisor a machine of its own.
  static const std::vector<std::string> kSets = {
      "sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
      "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme"};
  std::vector<std::string> sets;
  for (const std::string& name : kSets) {
    if (machine.has_flag(name)) sets.push_back(name);
  }
  std::string vendor = machine.cpu_vendor, chip = machine.cpu_name;
  size_t count = 1;
  if (!machine.gpus.empty()) {   // the accelerator is the chip that serves
    vendor = machine.gpus[0].vendor;
    chip = machine.gpus[0].name;
    count = machine.gpus.size();
  }
  return join({cell(vendor), cell(chip), std::to_string(count), join(sets, " "), std::to_string(machine.cores)}, "|");
}

std::string workload_class_text(const Workload& workload) {
  const Traffic& traffic = workload.traffic;
  const bool closed = traffic.kind == Traffic::Kind::Closed;
  return join({kind_word(traffic), bucket(closed ? traffic.clients : traffic.rate_rps),
               bucket(traffic.prompt_tokens.mean), bucket(traffic.output_tokens.mean), workload.objective.maximize},
              "|");
}

Json RecipeKey::to_json_value() const {
  return {{"key_version", 1},
          {"model", model},
          {"hardware", hardware},
          {"framework", framework},
          {"model_type", model_type},
          {"architecture", architecture},
          {"framework_version", framework_version},
          {"build_hash", build_hash},
          {"precision", precision},
          {"workload_class", workload_class}};
}

// RFC 8785 for what a key holds, strings and one integer: sorted keys, no blanks, UTF-8 as it is.
std::string RecipeKey::id() const {
  return sha256_hex(to_json_value().dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace hyperloom
