#include "session/real_recipes.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "recipe/recipe_db.h"
#include "recipe/recipe_key.h"
#include "session/legs.h"
#include "session/real_world.h"
#include "session/rules.h"

namespace hyperloom {
namespace {

RecipeItem item_of(const SessionState& s, const Proposal& p) {
  RecipeItem item{.change = p.intent.change, .session = s.session};
  const Comparison* c = s.comparison(p.comparison);
  if (c && c->decided) {
    item.pairs = c->decided->look.n;
    item.mean_log = c->decided->look.raw;
    double sd = c->decided->look.s;
    item.var_log = item.pairs > 0 ? sd * sd / item.pairs : 0;
    for (const PairDone& pair : c->pairs)
      for (const std::string& leg : {pair.leg_a, pair.leg_b})
        if (const LegRecord* record = s.leg(leg); record && record->done) item.legs.push_back(record->done->records_blob);
    item.verdict = c->decided->verdict;
  }
  if (p.reverted) {
    item.verdict = p.reverted->code == "not_faster" && c && c->decided ? c->decided->verdict : p.reverted->code;
    if (p.reverted->code == "failed") item.signature = p.reverted->why;
  }
  return item;
}

}  // namespace

RecipeKey recipe_key(const Pack& pack, const SessionState& s) {
  const MachineFacts& m = s.probe->machine;
  const ModelFacts& model = s.probe->model;
  RecipeKey key;
  key.model = model.sha256;
  key.hardware = hardware_text(m);
  key.framework = pack.name;
  key.model_type = "text";
  key.architecture = model.architecture;
  key.framework_version = s.probe->engine_version + (s.probe->source_commit.empty() ? "" : " " + s.probe->source_commit);
  if (const BuildEvent* build = s.build(s.enabled->build)) key.build_hash = build->key;
  key.precision = model.weights_type + "/kv-f16";
  key.workload_class = workload_class_text(s.workload);
  return key;
}

World::Proposed recipe_proposals(const Pack& pack, const SessionState& s, const fs::path& file) {
  World::Proposed result;
  auto db = RecipeDb::open(file);
  auto matches = db->match(recipe_key(pack, s));
  result.notice = db->notice();
  if (matches.empty()) return result;
  const RecipeMatch& best = matches.front();
  for (const RecipeItem& item : best.recipe.items) {
    if (item.verdict != "faster") continue;
    Intent intent{.role = "planner", .kind = "propose", .phase = "prelude", .change = item.change, .source = "recipe"};
    intent.a = s.incumbent;
    intent.predicted_log = item.mean_log;
    intent.why = "session " + item.session + " proved it over " + std::to_string(item.pairs) + " pairs" +
                 (best.relaxed.empty() ? ", same key" : ", " + best.relaxed + " differs");
    result.proposals.push_back(intent);
  }
  std::stable_sort(result.proposals.begin(), result.proposals.end(),
                   [](const Intent& a, const Intent& b) { return a.predicted_log > b.predicted_log; });
  return result;
}

RecipeWritten store_recipe(const Pack& pack, const SessionState& s, const fs::path& file) {
  RecipeKey key = recipe_key(pack, s);
  RecipeWritten written{.key = key.id()};
  auto db = RecipeDb::open(file);
  auto matches = db->match(key);
  const auto judged = [](const Proposal& p) {
    if (p.reverted) return p.reverted->code != "no_evidence" && p.reverted->code != "no_budget";
    return p.status == ProposalStatus::Kept;
  };
  for (const Proposal& p : s.proposals)
    if (p.intent.source == "recipe" && !matches.empty() && judged(p))
      db->record_replay(matches.front().relaxed, p.status == ProposalStatus::Kept);
  std::vector<double> ratios;
  for (const PairDone& pair : s.final_pairs) ratios.push_back(pair.log_ratio);
  Interval claim = ratios.size() < 2 ? Interval{} : claim_interval(ratios);
  if (close_result(s) != "improved") {
    written.reason = s.kept_items.empty() ? "nothing was kept: only proven sessions write gains" : "fresh pairs did not confirm the gain, or a limit is broken";
    return written;
  }
  Recipe recipe{.key = key, .model_name = s.probe->model.name, .session = s.session};
  recipe.speedup = std::exp(claim.mean);
  recipe.low = std::exp(claim.low);
  recipe.high = std::exp(claim.high);
  for (const Proposal& p : s.proposals)
    if (p.status == ProposalStatus::Kept || p.reverted) {
      RecipeItem item = item_of(s, p);
      if (item.verdict != "no_budget" && item.verdict != "no_evidence" && item.verdict != "screened_out" && item.verdict != "illegal")
        recipe.items.push_back(item);
    }
  written.items = db->write(recipe);
  written.written = written.items > 0;
  written.reason = db->notice().empty() ? "fresh pairs confirm the gain" : db->notice();
  return written;
}

}  // namespace hyperloom
