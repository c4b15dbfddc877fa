#include "cli/enabled_engine.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/roles.h"
#include "base/error.h"
#include "base/text.h"
#include "candidate/launch_plan.h"
#include "candidate/source.h"
#include "cli/commands.h"
#include "load/dataset.h"
#include "session/rules.h"

namespace hyperloom {
namespace {

constexpr double kLegLimit_s = 300;

// A session's state without its journal: nothing is decided here, so nothing needs to outlive the command.
class Prelude {
 public:
  Prelude(const Workload& workload, const Rules& rules, World& world, LoadLine& line) : rules_(rules), world_(world), line_(line) {
    append("session.opened", "bench", Json{{"session", "bench"}, {"workload", to_json_value(workload)}, {"workload_sha256", ""}});
  }

  SessionState run() {
    while (!state_.enabled) {
      if (stop_flags().any) throw Error(ErrorKind::Interrupted, "stopped before anything was measured");
      const std::optional<Step> step = state_.probe ? enablement(rules_, state_) : std::optional<Step>(DoProbe{});
      if (!step) throw internal_error("the ladder ended without a word");
      carry_out(*step);
    }
    return std::move(state_);
  }

 private:
  void append(const std::string& type, const std::string& id, Json body) {
    Entry entry;
    entry.type = type;
    entry.id = id;
    entry.body = std::make_shared<const Json>(std::move(body));
    apply(state_, entry);
  }

  void carry_out(const Step& step) {
    if (std::holds_alternative<DoProbe>(step)) {
      line_.say("probing machine and model");
      Json body = world_.probe(state_);
      body["what"] = "machine";
      append("probe", "machine", body);
    } else if (const auto* build = std::get_if<DoBuild>(&step)) {
      line_.say(build->recipe == "command" ? "asking the server for its flags" : "building " + build->recipe);
      append("build.done", build->recipe, world_.build(state_, *build));
    } else if (const auto* leg = std::get_if<DoLeg>(&step)) {
      line_.say("does " + leg->plan.group + " answer?");
      append("leg.started", leg->plan.id, Json{{"plan", leg->plan}});
      auto outcome = world_.leg(state_, leg->plan, {});
      if (const auto* done = std::get_if<LegDone>(&outcome)) append("leg.done", leg->plan.id, *done);
      else append("leg.void", leg->plan.id, std::get<LegVoid>(outcome));
    } else if (const auto* entry = std::get_if<Emit>(&step)) {
      if (entry->type == "phase.entered")    // the ladder's only way into another phase is to give up
        throw Error(ErrorKind::NotEnabled, "the engine does not answer: " + entry->body->value("evidence", std::string()),
                    "`hyperloom run` keeps the logs of every attempt; or name your own server in engine.command");
      append(entry->type, entry->id, *entry->body);
    } else {
      throw internal_error("a step that enabling an engine does not need");
    }
  }

  const Rules& rules_;
  World& world_;
  LoadLine& line_;
  SessionState state_;
};

}  // namespace

LegOrder EnabledEngine::leg_order(uint64_t trace_seed) const {
  LegOrder order;
  order.launch = launch;
  order.traffic = state.workload.traffic;
  order.objective = state.workload.objective;
  order.trace_seed = trace_seed;
  order.tokens_per_word = state.enabled->tokens_per_word;
  order.measured_requests = state.enabled->leg_requests;
  order.warmup_requests = state.enabled->warmup_requests;
  order.time_limit_s = kLegLimit_s;
  order.ran_before = true;
  order.limits = state.probe->neighbour_limits.limits;
  return order;
}

double EnabledEngine::window_s() const {
  for (const LegRecord& leg : state.legs)
    if (leg.good() && leg.plan.build == state.enabled->build && leg.done->result->load.requests_s > 0)
      return state.enabled->leg_requests / leg.done->result->load.requests_s;
  return 0;
}

Workload checked_workload(const fs::path& file) {
  Workload workload = load_workload(file);
  check_own_address(load_pack(workload.engine_pack), workload);
  if (!workload.traffic.dataset.empty()) sample_dataset(workload.traffic.dataset, workload.traffic.seed, 1);   // reads it all
  return workload;
}

Workload demo_workload(const fs::path& model, double time_s) {
  Workload workload;
  workload.model_path = model.empty() ? fetch_demo_model([](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }, &stop_flags().any)
                                      : fs::absolute(model);
  workload.traffic.clients = 8;
  workload.traffic.prompt_tokens = {128, 0.2};
  workload.traffic.output_tokens = {64, 0};
  workload.time_s = time_s;
  return workload;
}

EnabledEngine enable_engine(const Workload& workload, const fs::path& folder, LoadLine& line) {
  EnabledEngine engine;
  engine.pack = load_pack(workload.engine_pack);
  const Roles roles = built_in_roles();
  const Rules rules{engine.pack, roles};
  auto world = make_real_world({engine.pack, folder, folder / "recipes.db", stop_flags(),
                                [&](const std::string& detail) { line.say(detail); }});
  engine.state = Prelude(workload, rules, *world, line).run();
  engine.launch = launch_of(engine.pack, engine.state, engine.state.enabled->stock, engine.state.enabled->build);
  return engine;
}

}  // namespace hyperloom
