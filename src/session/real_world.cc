#include "session/real_world.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "candidate/build.h"
#include "candidate/facts.h"
#include "candidate/launch_plan.h"
#include "candidate/requantize.h"
#include "candidate/source.h"
#include "journal/journal.h"
#include "measure/exam_leg.h"
#include "session/budget.h"
#include "session/exams.h"
#include "session/quality_check.h"
#include "session/real_kernel.h"
#include "session/real_recipes.h"
#include "session/real_roofs.h"
#include "search/proposals.h"

namespace hyperloom {

fs::path build_folder(const SessionState& state, const std::string& recipe) {
  const BuildEvent* build = state.build(recipe);
  return build ? fs::path(build->folder) : fs::path();
}

fs::path model_of(const SessionState& state, const Candidate& candidate) {
  for (const Change& change : candidate.changes)
    if (change.kind == "precision")
      if (const MadeEvent* made = state.made_for(Candidate{}.with(change)); made && made->ok) return made->model_path;
  return state.workload.model_path;
}

LaunchSpec launch_of(const Pack& pack, const SessionState& state, const Candidate& candidate, const std::string& build) {
  return plan_launch(pack, state.workload, candidate, build_folder(state, build), model_of(state, candidate),
                     facts_of(state, pack, candidate));
}

HostMemory host_memory(const MachineFacts& machine) { return HostMemory(cache_root() / "hosts", host_id(machine.id())); }

std::string noise_key(const Workload& workload, const std::string& model_sha256) {
  Json all = to_json_value(workload), traffic = all.at("traffic");
  traffic.erase("seed");
  const Json key = {model_sha256, all.value("engine", Json()), all.value("machine", Json()), traffic, workload.objective.maximize};
  return sha256_hex(key.dump(-1, ' ', false, Json::error_handler_t::replace)).substr(0, 16);
}

namespace {

constexpr double kProfile_s = 6;
constexpr double kLegLimit_s = 300, kLeastLegLimit_s = 60;
constexpr double kSlowest = 6;    // times a usual leg: beyond it a candidate hangs, and the time is the close's
constexpr double kBackendLimit_s = 60;

class RealWorld : public World {
 public:
  explicit RealWorld(RealWorldSetup setup) : setup_(std::move(setup)) {}

  ProbeEvent probe(const SessionState& state) override;
  BuildEvent build(const SessionState& state, const DoBuild& order) override;
  MadeEvent make(const SessionState& state, const DoMake& order) override;
  std::variant<LegDone, LegVoid> leg(const SessionState& state, const LegPlan& plan, const Server::OnStarted& on_started) override;
  QualityReport quality(const SessionState& state, const Comparison& comparison) override {
    return check_quality(setup_.pack, state, comparison, setup_.session_dir, &setup_.flags.any);
  }
  Proposed recipes(const SessionState& state) override { return recipe_proposals(setup_.pack, state, setup_.recipe_file); }
  Proposed kernel_backend(const SessionState& state, double limit_s) override {
    return backend_proposals(setup_.pack, state, setup_.session_dir, std::min(limit_s, kBackendLimit_s), &setup_.flags.any);
  }
  RecipeWritten write_recipe(const SessionState& state) override { return store_recipe(setup_.pack, state, setup_.recipe_file); }
  std::string stop_request() override {
    if (setup_.flags.stop) return "user_stop";
    if (!setup_.flags.close) return "";
    setup_.flags.any = setup_.flags.stop;   // what ran has ended; closing has legs of its own
    return "user_close";
  }

 private:
  // What a leg needs of the caches and somebody deleted since it was made, made again (L2); not charged to the leg.
  void restore(const SessionState& state, const LegPlan& plan);
  std::variant<LegDone, LegVoid> exam(const SessionState& state, const LegPlan& plan, const LegHooks& hooks);
  Progress progress() const {
    return [this](const std::string& line) { if (setup_.on_progress) setup_.on_progress(line); };
  }
  RealWorldSetup setup_;
  SystemClock clock_;
};

ProbeEvent RealWorld::probe(const SessionState& state) {
  double start = clock_.mono_s();
  ProbeEvent event;
  event.machine = probe_machine();
  event.machine.tools = find_tools();
  event.model = read_gguf(state.workload.model_path);
  int threads = state.workload.cpus > 0 ? std::min(state.workload.cpus, event.machine.cores) : event.machine.cores;
  event.roofs = measure_roofs(event.model.step_bytes, threads);
  event.pack = setup_.pack.name;
  auto pin = [&](const char* key) {
    auto at = setup_.pack.source.find(key);
    return at == setup_.pack.source.end() ? std::string() : at->second;
  };
  event.engine_version = !state.workload.engine_version.empty() ? state.workload.engine_version : pin("release");
  event.source_commit = pin("commit");
  const HostMemory memory = host_memory(event.machine);
  event.neighbour_limits = learned_limits(memory.legs());
  event.earlier_noise = memory.noise(noise_key(state.workload, event.model.sha256));
  event.cost_s = clock_.mono_s() - start;
  return event;
}

BuildEvent RealWorld::build(const SessionState& state, const DoBuild& order) {
  double start = clock_.mono_s();
  BuildEvent event{.recipe = order.recipe, .ok = true};
  if (order.recipe != "command") {
    const BuildRecipe* recipe = setup_.pack.build(order.recipe);
    if (!recipe) throw internal_error("no build " + order.recipe + " in pack " + setup_.pack.name);
    fs::path source = fetch_source(setup_.pack, progress(), &setup_.flags.any);
    BuildResult made = build_engine(setup_.pack, *recipe, source, state.probe->machine, order.limit_s, progress(), &setup_.flags.any);
    event.key = made.key;
    event.folder = made.folder;
    event.error = made.error;
    event.ok = made.ok;
    event.out_of_time = made.out_of_time;
    event.from_cache = made.from_cache;
  }
  ChildSpec help;
  if (event.ok) help.argv = help_command(setup_.pack, state.workload, event.folder);
  if (!help.argv.empty()) {
    auto flags = flags_in_help(run_child(help, 60).output);
    event.help_flags.assign(flags.begin(), flags.end());
  }
  event.cost_s = clock_.mono_s() - start;
  return event;
}

MadeEvent RealWorld::make(const SessionState& state, const DoMake& order) {
  double start = clock_.mono_s();
  MadeEvent event{.candidate = order.candidate};
  const Change& precision = order.candidate.changes.front();
  RequantizeResult made = requantize(setup_.pack, build_folder(state, state.enabled->build), state.workload.model_path,
                                     state.probe->model.sha256, precision.value, std::max(60.0, order.limit_s), &setup_.flags.any);
  event.ok = made.ok;
  event.out_of_time = made.out_of_time;
  event.error = made.error;
  event.model_path = made.model;
  event.model_bytes = made.bytes;
  event.cost_s = clock_.mono_s() - start;
  return event;
}

void RealWorld::restore(const SessionState& state, const LegPlan& plan) {
  const auto lost = [](const fs::path& path, const std::string& error) {
    return internal_error(path.string() + " was deleted and could not be made again: " + error, "mend that, then `hyperloom resume`");
  };
  if (const BuildEvent* known = state.build(plan.build);
      known && known->ok && known->recipe != "command" && !fs::exists(fs::path(known->folder) / setup_.pack.server_binary))
    if (const BuildEvent again = build(state, {plan.build, state.workload.build_s}); !again.ok) throw lost(known->folder, again.error);
  for (const Change& change : plan.candidate.changes) {
    const MadeEvent* known = change.kind == "precision" ? state.made_for(Candidate{}.with(change)) : nullptr;
    if (!known || !known->ok || fs::exists(known->model_path)) continue;
    if (const MadeEvent again = make(state, {known->candidate, kLegLimit_s}); !again.ok) throw lost(known->model_path, again.error);
  }
}

LegOrder leg_order(const Pack& pack, const SessionState& state, const LegPlan& plan) {
  LegOrder order;
  order.launch = launch_of(pack, state, plan.candidate, plan.build);
  order.traffic = state.workload.traffic;
  if (plan.clients) order.traffic.clients = plan.clients;
  if (plan.prompt_tokens) order.traffic.prompt_tokens.mean = plan.prompt_tokens;
  if (plan.output_tokens) order.traffic.output_tokens.mean = plan.output_tokens;
  order.objective = state.workload.objective;
  order.ran_before = state.enabled.has_value();
  order.limits = state.probe->neighbour_limits.limits;
  order.trace_seed = plan.seed;
  if (state.enabled) order.tokens_per_word = state.enabled->tokens_per_word;
  order.measured_requests = plan.measured;
  order.warmup_requests = plan.warmup;
  const bool comparable = plan.purpose == "pair" || plan.purpose == "screen" || plan.purpose == "final" || plan.purpose == "ablation";
  order.time_limit_s = comparable ? std::clamp(kSlowest * leg_cost_s(state), kLeastLegLimit_s, kLegLimit_s) : kLegLimit_s;
  order.drain = plan.purpose == "enable" || plan.purpose == "profile";   // these ask for prompts and request rates too
  return order;
}

std::variant<LegDone, LegVoid> RealWorld::exam(const SessionState& state, const LegPlan& plan, const LegHooks& hooks) {
  const double start = clock_.mono_s();
  const ExamLegOrder order{launch_of(setup_.pack, state, plan.candidate, plan.build), exam_order(state, plan), true};
  auto outcome = run_exam_leg(setup_.pack, order, setup_.session_dir / "logs" / (plan.id + ".log"), hooks);
  const double cost_s = clock_.mono_s() - start;
  if (setup_.flags.any) return LegVoid{plan.id, "stopped", 0};
  if (auto* none = std::get_if<NoExam>(&outcome)) return LegVoid{plan.id, none->reason, cost_s};
  LegDone done{.id = plan.id, .cost_s = cost_s};
  if (auto* failure = std::get_if<Failure>(&outcome)) done.failure = std::move(*failure);
  else done.exam = std::move(std::get<ExamSheet>(outcome));
  return done;
}

std::variant<LegDone, LegVoid> RealWorld::leg(const SessionState& state, const LegPlan& plan, const Server::OnStarted& on_started) {
  restore(state, plan);
  double start = clock_.mono_s();
  LegDone done{.id = plan.id};
  LegHooks hooks;
  hooks.on_started = on_started;
  hooks.stop_flag = &setup_.flags.any;
  hooks.on_progress = [&](const LoadProgress& p) {
    if (setup_.on_progress)
      setup_.on_progress(std::to_string(p.done) + "/" + std::to_string(p.total) + " requests, " +
                         std::to_string(static_cast<int>(p.output_tok_s)) + " tok/s");
  };
  fs::path logs = setup_.session_dir / "logs";
  make_folders(logs);
  if (plan.purpose == "exam") return exam(state, plan, hooks);
  if (plan.purpose == "profile")
    hooks.under_load = [&](Server& server) {
      done.kernels = profile_process(setup_.pack, server.child().handle().pid, kProfile_s, logs);
    };
  LegOutcome outcome = [&]() -> LegOutcome {
    try {
      return run_leg(setup_.pack, leg_order(setup_.pack, state, plan), logs / (plan.id + ".log"), hooks);
    } catch (const Error& error) {   // a binary or a model that cannot be used; a full disk and the like are ours
      if (error.kind() != ErrorKind::BadInput) throw;
      return Failure{.failure_class = "cannot_launch", .id = "cannot_launch", .line = error.what(), .rung = "none", .first_move = error.mend()};
    }
  }();
  done.cost_s = clock_.mono_s() - start;
  if (setup_.flags.any) return LegVoid{plan.id, "stopped", 0};
  if (auto* failure = std::get_if<Failure>(&outcome)) {
    done.failure = *failure;
    return done;
  }
  LegResult& result = std::get<LegResult>(outcome);
  // Where time goes, and whether a build answers, shows on a busy host too; which build answers fastest, and how long
  // legs take, only on a quiet one.
  constexpr int kQuietTries = 2;
  bool needs_quiet = plan.purpose == "enable" ? plan.attempt < kQuietTries : plan.purpose != "profile";
  const bool unmeasured = !(result.value > 0);
  // Void or not: what is usual here must not be learned from quiet legs alone.
  if (plan.purpose == "stock" && result.neighbours.seconds > 0)
    host_memory(state.probe->machine).remember(host_leg(result.neighbours));
  if ((needs_quiet || unmeasured) && !result.void_reasons.empty()) {
    LegVoid spoiled{plan.id, join(result.void_reasons, "; "), done.cost_s, {}};
    if (result.neighbours.seconds > 0) spoiled.neighbours = result.neighbours;
    return spoiled;
  }
  result.void_reasons.clear();
  done.records_blob = store_blob(setup_.session_dir, result.records_jsonl);
  done.result = std::move(result);
  return done;
}

}  // namespace

std::unique_ptr<World> make_real_world(RealWorldSetup setup) { return std::make_unique<RealWorld>(std::move(setup)); }

}  // namespace hyperloom
