// A world whose engine is a table: each change multiplies throughput, noise is drawn from the leg's seed, time is virtual.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "session/world.h"

namespace hyperloom {

class ScriptedWorld : public World {
 public:
  explicit ScriptedWorld(VirtualClock& clock) : clock_(clock) {}

  std::map<std::string, double> effect;         // change text -> log ratio
  std::set<std::string> breaks_quality, fails_exam, dies_in_exam, late_in_exam, crashes, crashes_in_claim, failing_builds, slow_builds;
  std::map<std::string, std::string> build_dies;   // recipe -> failure class at launch
  std::map<std::string, double> build_effect;
  double latency_ms = 0;                         // p95 TTFT of every leg; 0 = not measured
  double exam_s = 20;                            // of one sitting
  bool stock_is_mute = false;                    // answers nothing in the exam
  double noise_sd = 0.004, stock = 80, enable_cost = 10;
  std::vector<Intent> kernel_claims, recipe_items;
  int pollute_every = 0;                         // each n-th leg is void
  std::string stop;
  int legs = 0;

  ProbeEvent probe(const SessionState&) override {
    ProbeEvent e;
    e.machine.cores = 2;
    e.model.parameters = 100;
    e.model.bytes = 100;
    e.pack = "scripted";
    return e;
  }
  BuildEvent build(const SessionState&, const DoBuild& order) override {
    clock_.advance(20);
    BuildEvent e{.recipe = order.recipe, .key = "k-" + order.recipe, .folder = "/nowhere", .ok = !failing_builds.count(order.recipe), .cost_s = 20};
    if (!e.ok) e.error = "no such compiler";
    if (slow_builds.count(order.recipe)) e.ok = false, e.out_of_time = true, e.error = "ran out of the time that it was given";
    e.help_flags = {"-np", "-ub", "-fa", "--poll"};
    return e;
  }
  MadeEvent make(const SessionState&, const DoMake& order) override {
    return {.candidate = order.candidate, .ok = true, .model_path = "/m", .model_bytes = 50, .cost_s = 5};
  }
  std::variant<LegDone, LegVoid> leg(const SessionState& s, const LegPlan& plan, const Server::OnStarted&) override {
    double cost = plan.purpose == "enable" ? enable_cost : plan.purpose == "exam" ? exam_s : 10;
    clock_.advance(cost);
    legs++;
    if (plan.purpose == "exam") return exam(plan, cost);
    if (pollute_every && legs % pollute_every == 0) return LegVoid{plan.id, "foreign load 0.4 cores", cost};
    LegDone done{.id = plan.id, .cost_s = cost};
    if (auto dies = build_dies.find(plan.build); dies != build_dies.end()) {
      done.failure = Failure{.failure_class = dies->second, .id = dies->second, .line = "SIGILL", .rung = "rebuild"};
      return done;
    }
    double log_value = std::log(stock);
    if (auto at = build_effect.find(plan.build); at != build_effect.end()) log_value += at->second;
    for (const Change& change : plan.candidate.changes) {
      if (crashes.count(change.text()) || (plan.purpose == "final" && crashes_in_claim.count(change.text()))) {
        done.failure = Failure{.failure_class = "crashed", .id = "crashed", .line = "abort", .rung = "none"};
        return done;
      }
      if (auto at = effect.find(change.text()); at != effect.end()) log_value += at->second;
    }
    log_value += noise_sd * noise(plan.seed, plan.candidate.id());
    done.result = result_of(s, std::exp(log_value), plan.seed);
    done.result->load.ttft_ms.count = 20;
    done.result->load.ttft_ms.p95 = latency_ms * std::exp(noise_sd * noise(plan.seed + 1, plan.candidate.id()));
    done.records_blob = "none";
    return done;
  }
  QualityReport quality(const SessionState&, const Comparison& c) override {
    QualityReport report;
    report.kl_done = true;
    report.kl.ok = true;
    report.cost_s = 30;
    report.agreement.compared = 8;
    clock_.advance(30);
    if (breaks_quality.count(c.intent.change.text())) report.failures.push_back("ppl_ratio 1.26 is above 1.01");
    return report;
  }
  Proposed recipes(const SessionState&) override { return {recipe_items, ""}; }
  Proposed kernel_backend(const SessionState&, double) override { return {kernel_claims, ""}; }
  RecipeWritten write_recipe(const SessionState& s) override { return {"key", "ok", !s.kept_items.empty(), static_cast<int>(s.kept_items.size())}; }
  std::string stop_request() override { return stop; }

 private:
  std::variant<LegDone, LegVoid> exam(const LegPlan& plan, double cost_s) const {
    const auto any = [&](const std::set<std::string>& texts) {
      return std::any_of(plan.candidate.changes.begin(), plan.candidate.changes.end(), [&](const Change& c) { return texts.count(c.text()) > 0; });
    };
    if (any(late_in_exam)) return LegVoid{plan.id, "the exam ran out of time: 3 of 40 items in 80 s", cost_s};
    LegDone done{.id = plan.id, .cost_s = cost_s};
    if (any(dies_in_exam)) {
      done.failure = Failure{.failure_class = "crashed", .id = "crashed", .line = "abort", .rung = "none"};
      return done;
    }
    done.exam = ExamSheet{.asked = 40, .seconds = cost_s};
    for (int i = 0; i < 40; i++) done.exam->answers.push_back({.kind = "chat", .right = !stock_is_mute && !any(fails_exam), .ended = true, .text = "yes"});
    return done;
  }
  static double noise(uint64_t seed, const std::string& candidate) {
    double sum = 0;   // near normal: twelve uniforms
    for (int i = 0; i < 12; i++)
      sum += static_cast<double>(seed_from(std::to_string(seed) + candidate + std::to_string(i)) >> 11) / 9007199254740992.0;
    return sum - 6;
  }
  static LegResult result_of(const SessionState&, double value, uint64_t seed) {
    LegResult r;
    r.value = value;
    r.load.output_tok_s = value;
    r.load.requests_s = value / 64;
    r.load.completed = 20;
    r.trace_sha256 = std::to_string(seed);
    r.cost_s = 10;
    return r;
  }
  VirtualClock& clock_;
};

inline Pack scripted_pack() {
  Pack pack;
  pack.name = "scripted";
  BuildRecipe native;
  native.id = "native";
  native.role = "stock";
  BuildRecipe plain = native, slow = native, fast = native;
  plain.id = "plain", plain.role = "enable";
  slow.id = "slow", slow.role = "enable";
  fast.id = "fast", fast.role = "tune";
  pack.builds = {native, plain, slow, fast};
  auto knob = [&](const std::string& name, const std::string& kind, std::vector<std::string> values, int rank) {
    Knob k;
    k.name = name;
    k.help_name = name;
    k.kind = kind;
    k.type = "enum";
    k.values = std::move(values);
    k.expert_rank = rank;
    if (kind == "precision") k.numerics = "semantic", k.cost = "requantize";
    pack.knobs.push_back(k);
  };
  knob("weights", "precision", {"Q8_0", "Q4_0"}, 1);
  knob("-np", "flag", {"8"}, 2);
  knob("-ub", "flag", {"128", "256"}, 10);
  knob("-fa", "flag", {"off"}, 20);
  knob("--poll", "flag", {"0"}, 30);
  return pack;
}

inline Workload scripted_workload(double time_s = 1500) {
  Workload w;
  w.model_path = "/m.gguf";
  w.engine_pack = "scripted";
  w.traffic.clients = 8;
  w.traffic.prompt_tokens = {128, 0};
  w.traffic.output_tokens = {64, 0};
  w.time_s = time_s;
  return w;
}

}  // namespace hyperloom
