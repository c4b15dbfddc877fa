#include "candidate/legal_changes.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "engine/pack_knobs.h"

namespace hyperloom {
namespace {

// The literal text of one listed value, or nothing when it has none here.
std::optional<std::string> literal(const Knob& knob, const std::string& value, const Facts& facts) {
  if (!is_expression(value)) return value;
  std::optional<Value> result = evaluate(value, facts);
  if (!result) return std::nullopt;
  if (double* number = std::get_if<double>(&*result); number != nullptr && knob.type == "int") {
    *number = std::floor(*number);
  }
  return text_of(*result);
}

bool shown_by_help(const Knob& knob, const std::set<std::string>& help_flags) {
  if (knob.kind != "flag" || help_flags.empty()) return true;
  return help_flags.count(knob.help_name.empty() ? knob.name : knob.help_name) != 0;
}

std::string current(const Knob& knob, const Facts& facts) {
  const auto found = facts.find("knob." + knob.name);
  return found == facts.end() ? "" : text_of(found->second);
}

// Rules of every knob that speak of this one hold too: a value must not make a neighbour's value illegal.
const Knob* forbidden_by(const Pack& pack, const Facts& facts) {
  for (const Knob& knob : pack.knobs) {
    if (!knob.forbid.empty() && facts.count("knob." + knob.name) != 0 && holds(knob.forbid, facts)) return &knob;
  }
  return nullptr;
}

bool breaks_a_rule(const Pack& pack, const Knob& knob, Facts facts, const std::string& value) {
  const Knob* before = forbidden_by(pack, facts);
  facts["knob." + knob.name] = value_of(value);
  if (!knob.forbid.empty() && holds(knob.forbid, facts)) return true;
  const Knob* after = forbidden_by(pack, facts);
  return after != nullptr && after != before;   // what the user's own stock breaks is his business
}

}  // namespace

std::vector<Change> legal_values(const Pack& pack, const Knob& knob, const Facts& facts,
                                 const std::set<std::string>& help_flags, const Candidate& incumbent) {
  std::vector<Change> result;
  if (knob.kind == "build" || !holds(knob.when, facts) || !shown_by_help(knob, help_flags)) return result;
  std::vector<std::string> values = knob.values;
  // A bool that is on may be switched off again.
  if (knob.type == "bool" && current(knob, facts) == "true") values.push_back("false");
  for (const std::string& listed : values) {
    const std::optional<std::string> value = literal(knob, listed, facts);
    if (!value || *value == current(knob, facts)) continue;
    if (const Change* now = incumbent.find(knob.name); now != nullptr && now->value == *value) continue;
    if (breaks_a_rule(pack, knob, facts, *value)) continue;
    const Change change{knob.kind, knob.name, *value};
    if (std::find(result.begin(), result.end(), change) == result.end()) result.push_back(change);
  }
  return result;
}

std::string why_illegal(const Pack& pack, const Facts& facts, const std::set<std::string>& help_flags,
                        const Candidate& candidate) {
  Facts with = facts;
  for (const Change& change : candidate.changes) with["knob." + change.knob] = value_of(change.value);
  for (const Change& change : candidate.changes) {
    if (change.kind == "build") {
      const BuildRecipe* recipe = pack.build(change.value);
      if (recipe == nullptr) return change.text() + ": no such build recipe in pack " + pack.name;
      if (!holds(recipe->when, with)) return change.text() + ": not on this machine: `" + recipe->when + "`";
      continue;
    }
    if (change.kind == "patch" || change.kind == "table") continue;
    const Knob* knob = pack.knob(change.knob);
    if (knob == nullptr) return change.text() + ": no such knob in pack " + pack.name;
    if (knob->kind != change.kind) return change.text() + ": the knob is of kind " + knob->kind;
    if (!shown_by_help(*knob, help_flags)) return change.text() + ": this build's help does not show it";
    if (!holds(knob->when, with)) return change.text() + ": only when `" + knob->when + "`";
    if (!knob->forbid.empty() && holds(knob->forbid, with)) {
      return change.text() + ": forbidden by `" + knob->forbid + "`";
    }
  }
  return "";
}

std::vector<Change> legal_builds(const Pack& pack, const Facts& facts, const std::string& role) {
  std::vector<Change> result;
  for (const BuildRecipe& recipe : pack.builds) {
    if (recipe.role == role && holds(recipe.when, facts)) result.push_back(Change{"build", "build", recipe.id});
  }
  return result;
}

}  // namespace hyperloom
