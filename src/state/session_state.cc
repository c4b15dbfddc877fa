#include "state/session_state.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace hyperloom {
namespace {

// Charges a finished step: before the first answer nothing counts against the budget.
void charge(SessionState& s, double cost_s) { (s.enabled ? s.spent_s : s.unbudgeted_s) += cost_s; }

Proposal* find_proposal(SessionState& s, const std::string& id) {
  for (Proposal& p : s.proposals)
    if (p.intent.id == id) return &p;
  return nullptr;
}

Comparison* find_comparison(SessionState& s, const std::string& id) {
  for (Comparison& c : s.comparisons)
    if (c.intent.id == id) return &c;
  return nullptr;
}

void on_opened(SessionState& s, const Entry& e) {
  s.session = e.body->at("session");
  s.workload = workload_from_json(e.body->at("workload"));
  s.workload_sha256 = e.body->value("workload_sha256", "");
  s.opened_wall = e.wall;
}

// A half pair is void (the fold, not the writer, so that a crash right after session.resumed changes nothing),
// and so is every leg that was running. What a voided leg had cost is given back: the crash was ours (L8).
void on_resumed(SessionState& s) {
  s.resumes++;
  s.stop_request.clear();
  for (LegRecord& leg : s.legs) {
    if (leg.open()) leg.void_reason = "interrupted";
    const std::string& purpose = leg.plan.purpose;
    bool of_a_pair = purpose == "pair" || purpose == "final" || purpose == "ablation";
    if (!of_a_pair || !leg.void_reason.empty()) continue;
    auto used_by = [&](const std::vector<PairDone>& pairs) {
      return std::any_of(pairs.begin(), pairs.end(), [&](const PairDone& p) {
        return p.leg_a == leg.plan.id || p.leg_b == leg.plan.id;
      });
    };
    bool partner_done = false;
    for (const LegRecord& other : s.legs)
      partner_done |= other.plan.group == leg.plan.group && other.plan.pair == leg.plan.pair &&
                      other.plan.attempt == leg.plan.attempt && other.plan.arm != leg.plan.arm &&
                      other.done && other.void_reason.empty();
    const Comparison* c = s.comparison(leg.plan.group);
    auto ablated = s.ablation.find(leg.plan.group);
    bool used = c ? (used_by(c->pairs) || c->decided.has_value())
                  : used_by(s.final_pairs) || (ablated != s.ablation.end() && used_by(ablated->second));
    // What other load had spoiled was discarded, and paid for, long before this crash.
    bool discarded = false;
    for (const LegRecord& other : s.legs)
      discarded |= other.plan.group == leg.plan.group && other.plan.pair == leg.plan.pair && other.plan.attempt == leg.plan.attempt &&
                   other.plan.arm != leg.plan.arm && !other.void_reason.empty() && !other.interrupted();
    if (used || partner_done || discarded || leg.failed()) continue;
    leg.void_reason = "half pair at resume";
    if (leg.done) {
      s.spent_s -= leg.done->cost_s;
      s.measuring_s -= leg.done->cost_s;
    }
  }
}

void on_probe(SessionState& s, const Json& body) {
  std::string what = body.at("what");
  if (what == "machine") {
    s.probe = body.get<ProbeEvent>();
    charge(s, s.probe->cost_s);
  } else if (what == "enabled") {
    s.enabled = body.get<Enabled>();
    s.incumbent = s.enabled->stock;
    Stage stage{.id = "S0", .name = "stock", .kind = s.enabled->climbed ? "enablement" : "stock", .kept = true};
    s.stages.push_back(stage);
  } else if (what == "noise") {
    s.pool = first_pool(s);
    s.noise_known = true;
  } else if (what == "recipes") {
    s.replay_looked_up = true;
    if (body.contains("notice")) s.notices.push_back(body["notice"]);
  } else if (what == "exam") {
    s.exam = body.get<ExamPlan>();
    if (!s.exam->notice.empty()) s.notices.push_back(s.exam->notice);
  } else if (what == "profile") {
    s.profiles.push_back(body.get<ProfileNote>());
  } else if (what == "kernel_backend") {
    s.kernel_asked = true;
    if (body.contains("notice")) s.notices.push_back(body["notice"]);
  } else if (what == "notice") {
    s.notices.push_back(body.at("notice"));
  }
}

void on_leg_started(SessionState& s, const Json& body) {
  LegRecord record;
  record.plan = body.at("plan").get<LegPlan>();
  if (auto known = s.leg_index.find(record.plan.id); known != s.leg_index.end()) {
    // The second entry of a leg adds the handle of the server that was launched for it.
    LegRecord& leg = s.legs[known->second];
    if (body.contains("server")) {
      const Json& server = body["server"];
      leg.handle = {server.value("pid", 0), server.value("start_ticks", uint64_t{0}),
                    server.value("boot_id", ""), server.value("cgroup", "")};
      leg.port = server.value("port", 0);
    }
    return;
  }
  s.leg_index[record.plan.id] = s.legs.size();
  s.legs.push_back(std::move(record));
}

void note_sweep(SessionState& s, const LegRecord& leg) {
  for (SweepPoint& point : s.sweep) {
    if (point.id != leg.plan.group) continue;
    if (leg.plan.arm == "b")   // an earlier incumbent's figure is not the best configuration's any more
      for (const LegRecord& other : s.legs)
        if (other.plan.purpose == "sweep" && other.plan.group == leg.plan.group && other.plan.arm == "b" &&
            !(other.plan.candidate == leg.plan.candidate))
          point.best.clear();
    (leg.plan.arm == "a" ? point.stock : point.best).push_back(leg.done->result->value);
    return;
  }
  SweepPoint point{leg.plan.group, leg.plan.clients, leg.plan.prompt_tokens, leg.plan.output_tokens, {}, {}};
  (leg.plan.arm == "a" ? point.stock : point.best).push_back(leg.done->result->value);
  s.sweep.push_back(point);
}

void on_leg_done(SessionState& s, LegDone done) {
  auto at = s.leg_index.find(done.id);
  if (at == s.leg_index.end()) return;
  LegRecord& leg = s.legs[at->second];
  charge(s, done.cost_s);
  s.measuring_s += done.cost_s;
  s.voids_in_a_row = 0;
  leg.done = std::move(done);
  if (leg.plan.purpose == "sweep" && leg.good()) note_sweep(s, leg);
}

void on_leg_void(SessionState& s, const LegVoid& v) {
  auto at = s.leg_index.find(v.id);
  if (at == s.leg_index.end()) return;
  s.legs[at->second].void_reason = v.reason;
  charge(s, v.cost_s);
  s.measuring_s += v.cost_s;
  s.voids++;
  s.voids_in_a_row++;
}

void on_pair(SessionState& s, PairDone pair) {
  if (pair.comparison == "final") {
    s.final_pairs.push_back(pair);
  } else if (Comparison* c = find_comparison(s, pair.comparison)) {
    c->pairs.push_back(pair);
  } else {
    s.ablation[pair.comparison].push_back(pair);
  }
}

void on_intent(SessionState& s, Intent intent) {
  if (intent.kind == "propose") {
    s.proposals.push_back({.intent = std::move(intent)});
  } else if (intent.kind == "compare") {
    if (Proposal* p = find_proposal(s, intent.proposal)) {
      p->status = ProposalStatus::Comparing;
      p->comparison = intent.id;
    }
    s.comparisons.push_back({.intent = std::move(intent)});
  } else {
    s.alerts.push_back(std::move(intent));
  }
}

void on_refused(SessionState& s, const Refused& refused) {
  if (Proposal* p = find_proposal(s, refused.intent)) {
    p->status = ProposalStatus::Refused;
    p->refused = refused;
  }
}

void on_kept(SessionState& s, const Kept& kept) {
  Proposal* p = find_proposal(s, kept.proposal);
  if (!p) return;
  p->status = ProposalStatus::Kept;
  const Change& change = p->intent.change;
  Stage stage{.id = "S" + std::to_string(s.stages.size()), .name = change.text(), .kind = kept.stage,
              .change = change, .parent = s.incumbent.id(), .comparison = kept.comparison, .kept = true};
  s.stages.push_back(stage);
  s.incumbent = kept.incumbent;
  std::erase_if(s.kept_items, [&](const Change& c) { return c.knob == change.knob; });
  s.kept_items.push_back(change);
  s.keeps_this_cycle++;
  if (s.first_gain_at_s < 0) s.first_gain_at_s = s.spent_s;
}

void on_reverted(SessionState& s, const Reverted& reverted) {
  if (Proposal* p = find_proposal(s, reverted.proposal)) {
    p->status = ProposalStatus::Reverted;
    p->reverted = reverted;
  }
}

void on_phase(SessionState& s, const PhaseEntered& entered) {
  if (entered.cycle > s.cycle) {
    s.cycle_ends.push_back(entered.reason);
    s.keeps_this_cycle = 0;
    s.kernel_asked = false;
  }
  if (s.phase == "sweep") s.swept = s.incumbent.id();
  s.phase = entered.phase;
  s.cycle = entered.cycle;
  s.phases.push_back(entered);
  s.phase_at_s.push_back(s.spent_s);
}

}  // namespace

bool LegRecord::interrupted() const {
  return void_reason == "interrupted" || void_reason == "half pair at resume" || void_reason == "stopped";
}

std::vector<double> Comparison::log_ratios() const {
  std::vector<double> out;
  for (const PairDone& p : pairs) out.push_back(p.log_ratio);
  return out;
}

void apply(SessionState& s, const Entry& e) {
  const Json& b = *e.body;
  const std::string& t = e.type;
  if (t == "session.opened") on_opened(s, e);
  else if (t == "session.resumed") on_resumed(s);
  else if (t == "session.stopped") s.stop_request = b.at("reason");
  else if (t == "phase.entered") on_phase(s, b.get<PhaseEntered>());
  else if (t == "probe") on_probe(s, b);
  else if (t == "candidate.made") {
    s.made.push_back(b.get<MadeEvent>());
    charge(s, s.made.back().cost_s);
    s.building_s += s.made.back().cost_s;
  } else if (t == "build.done") {
    s.builds.push_back(b.get<BuildEvent>());
    charge(s, s.builds.back().cost_s);
    s.building_s += s.builds.back().cost_s;
  } else if (t == "leg.started") on_leg_started(s, b);
  else if (t == "leg.done") on_leg_done(s, b.get<LegDone>());
  else if (t == "leg.void") on_leg_void(s, b.get<LegVoid>());
  else if (t == "pair.done") on_pair(s, b.get<PairDone>());
  else if (t == "comparison.decided") {
    auto decided = b.get<Decided>();
    if (Comparison* c = find_comparison(s, decided.comparison)) {
      c->decided = decided;
      if (decided.verdict != "failed" && decided.verdict != "abandoned") s.pool.add_comparison(c->log_ratios());
    }
  } else if (t == "quality.done") {
    auto quality = b.get<QualityDone>();
    charge(s, quality.report.cost_s);
    s.measuring_s += quality.report.cost_s;
    if (Comparison* c = find_comparison(s, quality.comparison)) c->quality = quality;
  } else if (t == "exam.judged") {
    auto exam = b.get<ExamDone>();
    if (Comparison* c = find_comparison(s, exam.comparison)) c->exam = exam;
  } else if (t == "intent") on_intent(s, b.get<Intent>());
  else if (t == "gate.refused") on_refused(s, b.get<Refused>());
  else if (t == "verdict") {
    auto verdict = b.get<CriticVerdict>();
    if (Comparison* c = find_comparison(s, verdict.comparison)) c->critic = verdict;
  } else if (t == "kept") on_kept(s, b.get<Kept>());
  else if (t == "reverted") on_reverted(s, b.get<Reverted>());
  else if (t == "recipe.written") s.recipe = b.get<RecipeWritten>();
  else if (t == "closed") s.closed = b.get<Closed>();
  else if (t == "x-screened") {
    if (Proposal* p = find_proposal(s, b.at("proposal"))) {
      p->screened_log = b.at("log").get<double>();
      p->status = ProposalStatus::Screened;
    }
  }
}

NoisePool first_pool(const SessionState& s) {
  NoisePool pool;
  if (s.probe && s.probe->earlier_noise && s.enabled)
    pool.start_with(s.probe->earlier_noise->scaled_to(s.enabled->leg_requests));
  std::vector<double> logs;
  for (const LegRecord* leg : s.good_legs("stock")) logs.push_back(std::log(leg->done->result->value));
  pool.add_stock_legs(logs);
  return pool;
}

SessionState fold(const std::vector<Entry>& entries) {
  SessionState state;
  for (const Entry& entry : entries) apply(state, entry);
  return state;
}

const LegRecord* SessionState::leg(const std::string& id) const {
  auto at = leg_index.find(id);
  return at == leg_index.end() ? nullptr : &legs[at->second];
}
const Comparison* SessionState::comparison(const std::string& id) const {
  for (const Comparison& c : comparisons)
    if (c.intent.id == id) return &c;
  return nullptr;
}
std::vector<const Comparison*> SessionState::decided_before(const std::string& comparison) const {
  std::vector<const Comparison*> out;
  for (const Comparison& c : comparisons) {
    if (c.intent.id == comparison) break;
    if (c.decided && c.decided->verdict != "failed" && c.decided->verdict != "abandoned") out.push_back(&c);
  }
  return out;
}

const Proposal* SessionState::proposal(const std::string& id) const {
  for (const Proposal& p : proposals)
    if (p.intent.id == id) return &p;
  return nullptr;
}
const BuildEvent* SessionState::build(const std::string& recipe) const {
  for (auto b = builds.rbegin(); b != builds.rend(); ++b)
    if (b->recipe == recipe) return &*b;
  return nullptr;
}
const MadeEvent* SessionState::made_for(const Candidate& candidate) const {
  for (auto m = made.rbegin(); m != made.rend(); ++m)
    if (m->candidate == candidate) return &*m;
  return nullptr;
}
std::vector<const LegRecord*> SessionState::good_legs(const std::string& purpose) const {
  std::vector<const LegRecord*> out;
  for (const LegRecord& l : legs)
    if (l.plan.purpose == purpose && l.good()) out.push_back(&l);
  return out;
}
const Intent* SessionState::stop_alert() const {
  for (const Intent& alert : alerts)
    if (alert.kind == "stop") return &alert;
  return nullptr;
}
double SessionState::stock_value() const {
  auto stock = good_legs("stock");
  if (stock.empty()) return 0;
  double sum = 0;
  for (const LegRecord* l : stock) sum += std::log(l->done->result->value);
  return std::exp(sum / static_cast<double>(stock.size()));
}

}  // namespace hyperloom
