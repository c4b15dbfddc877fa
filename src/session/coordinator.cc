#include "session/coordinator.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "policy/gate.h"

namespace hyperloom {
namespace {

bool durable(const std::string& type) {
  for (const char* t : {"session.opened", "leg.done", "pair.done", "comparison.decided", "verdict", "exam.judged", "kept", "closed", "session.stopped"})
    if (type == t) return true;
  return false;
}

template <class... Fs> struct Overloaded : Fs... { using Fs::operator()...; };
template <class... Fs> Overloaded(Fs...) -> Overloaded<Fs...>;

Json server_json(const ProcessHandle& handle, int port) {
  Json server{{"pid", handle.pid}, {"start_ticks", handle.start_ticks}, {"boot_id", handle.boot_id}, {"port", port}};
  if (!handle.cgroup.empty()) server["cgroup"] = handle.cgroup;
  return server;
}

}  // namespace

Coordinator::Coordinator(Journal& journal, World& world, const Rules& rules, Observer observer)
    : journal_(journal), world_(world), rules_(rules), observer_(std::move(observer)) {}

void Coordinator::append(const std::string& type, const std::string& id, Json body) {
  Entry entry = journal_.append(type, id, std::move(body), durable(type));
  apply(state_, entry);
  if (observer_.on_entry) observer_.on_entry(state_, entry);
}

void Coordinator::open(const std::string& session, const Workload& workload) {
  append("session.opened", session,
         Json{{"session", session}, {"workload", to_json_value(workload)}, {"workload_sha256", sha256_hex(workload.canonical())}});
}

void Coordinator::resume() {
  for (const Entry& entry : journal_.contents().entries) apply(state_, entry);
  if (state_.session.empty()) throw bad_input("the journal holds no session", "start one with `hyperloom run`");
  if (state_.closed) return;
  for (const LegRecord& leg : state_.legs)
    if (leg.open() && leg.handle.pid > 0) kill_left_over(leg.handle);
  append("session.resumed", state_.session, Json::object());
}

const SessionState& Coordinator::run() {
  try {
    while (step()) {
    }
  } catch (const Error& error) {
    if (!state_.closed) try {
      append("session.stopped", state_.session, Json{{"reason", "fault"}, {"error", error.what()}});
    } catch (const Error&) {
      // The journal itself cannot be written (disk full): the first error says so.
    }
    throw;
  }
  return state_;
}

bool Coordinator::step() {
  std::string request = state_.closed ? "" : world_.stop_request();
  if (!request.empty() && request != state_.stop_request) append("session.stopped", state_.session, Json{{"reason", request}});
  Step step = next(rules_, state_);
  if (std::holds_alternative<DoFinish>(step)) return false;
  if (auto* entry = std::get_if<Emit>(&step)) append(entry->type, entry->id, *entry->body);
  else work(step);
  return true;
}

void Coordinator::work(const Step& step) {
  auto tell = [&](const std::string& what) { if (observer_.on_work) observer_.on_work(state_, what); };
  // What a stop cut short is no evidence (L8): nothing is written, and it is asked for again after a resume.
  auto cut_short = [&] { return !world_.stop_request().empty() && state_.phase != "close"; };
  // The closing note comes last: after a crash in between the look-up is repeated, and what it had said is known.
  auto proposed = [&](const std::string& what, const World::Proposed& result) {
    const std::string prefix = (what == "recipes" ? "W" : "K") + std::to_string(state_.cycle) + ".";
    int n = 0;
    for (Intent intent : result.proposals) {
      bool known = false;
      for (const Proposal& p : state_.proposals) known |= starts_with(p.intent.id, prefix) && p.intent.change == intent.change;
      if (known) continue;
      do intent.id = prefix + std::to_string(++n);
      while (state_.proposal(intent.id));
      append("intent", intent.id, intent);
    }
    Json body{{"what", what}};
    if (!result.notice.empty()) body["notice"] = result.notice;
    append("probe", what, body);
  };
  std::visit(Overloaded{
                 [&](const Emit&) {},
                 [&](const DoFinish&) {},
                 [&](const DoProbe&) {
                   tell("probing machine and model");
                   Json body = world_.probe(state_);
                   body["what"] = "machine";
                   append("probe", "machine", body);
                 },
                 [&](const DoBuild& order) {
                   tell("building " + order.recipe);
                   BuildEvent built = world_.build(state_, order);
                   if (built.ok || !cut_short()) append("build.done", order.recipe, built);
                 },
                 [&](const DoMake& order) {
                   tell("making " + order.candidate.text());
                   MadeEvent made = world_.make(state_, order);
                   if (made.ok || !cut_short()) append("candidate.made", order.candidate.id(), made);
                 },
                 [&](const DoLeg& order) { run_leg(order); },
                 [&](const DoQuality& order) {
                   const Comparison* c = state_.comparison(order.comparison);
                   tell("checking quality of " + c->intent.change.text());
                   QualityReport report = world_.quality(state_, *c);
                   if (report.held() || !cut_short()) append("quality.done", order.comparison, QualityDone{order.comparison, report});
                 },
                 [&](const DoRecipes&) {
                   tell("looking up recipes");
                   proposed("recipes", world_.recipes(state_));
                 },
                 [&](const DoKernel& order) {
                   tell("asking the kernel backend");
                   World::Proposed claims = world_.kernel_backend(state_, order.limit_s);
                   if (!cut_short()) proposed("kernel_backend", claims);
                 },
                 [&](const DoRecipeWrite&) {
                   RecipeWritten written;
                   try {
                     written = world_.write_recipe(state_);
                   } catch (const std::exception& error) {   // the knowledge base is a cache: close goes on without (L9)
                     written.reason = error.what();
                   }
                   append("recipe.written", "recipe", written);
                 },
             },
             step);
}

void Coordinator::run_leg(const DoLeg& order) {
  const LegPlan& plan = order.plan;
  if (observer_.on_work)
    observer_.on_work(state_, plan.purpose + " leg " + plan.id + ": " + plan.candidate.text() + (plan.group.empty() ? "" : " (" + plan.group + ")"));
  append("leg.started", plan.id, Json{{"plan", plan}});
  if (auto refused = state_.enabled ? check_candidate(rules_.pack, state_, plan.candidate) : std::nullopt) {
    refused->intent = plan.id;
    append("gate.refused", plan.id, *refused);
    append("leg.void", plan.id, LegVoid{plan.id, "gate: " + refused->rule + " " + refused->value, 0});
    return;
  }
  auto on_started = [&](const ProcessHandle& handle, int port) {
    append("leg.started", plan.id, Json{{"plan", plan}, {"server", server_json(handle, port)}});
  };
  auto outcome = world_.leg(state_, plan, on_started);
  if (auto* done = std::get_if<LegDone>(&outcome)) append("leg.done", plan.id, *done);
  else append("leg.void", plan.id, std::get<LegVoid>(outcome));
}

}  // namespace hyperloom
