// Events that hold facts: about machine, model, builds, made weights, profiles, and what was
// taught.
#include <nlohmann/json.hpp>

#include "state/event_fields.h"
#include "state/events.h"

namespace hyperloom {
// The field lists are found by argument, so they may not lie in an unnamed namespace.

template <class Visit, Is<ModelFacts> E>
void fields(Visit& visit, E& e) {
  visit("name", e.name);
  visit("architecture", e.architecture);
  visit("weights_type", e.weights_type);
  visit.unless(0, "layers", e.layers);
  visit.unless(0, "heads", e.heads);
  visit.unless(0, "kv_heads", e.kv_heads);
  visit.unless(0, "embedding", e.embedding);
  visit.unless(0, "context", e.context);
  visit.unless(0, "vocabulary", e.vocabulary);
  visit.unless(0, "head_dim", e.head_dim);
  visit.unless(0, "feed_forward", e.feed_forward);
  visit("parameters", e.parameters);
  visit("bytes", e.bytes);
  visit("sha256", e.sha256);
  visit("step_bytes", e.step_bytes);
  visit("kv_bytes_per_token", e.kv_bytes_per_token);
}

template <class Visit, Is<Failure> E>
void fields(Visit& visit, E& e) {
  visit.must("class", e.failure_class);
  visit("id", e.id);
  visit("line", e.line);
  visit("rung", e.rung);
  visit("first_move", e.first_move);
}

template <class Visit, Is<MachineRoofs> E>
void fields(Visit& visit, E& e) {
  visit.unless(0.0, "bandwidth_gb_s", e.bandwidth_gb_s);
  visit.unless(0.0, "peak_gflop_s", e.peak_gflop_s);
}

template <class Visit, Is<ProbeEvent> E>
void fields(Visit& visit, E& e) {
  visit.must("machine", e.machine);
  visit.must("model", e.model);
  fields(visit, e.roofs);
  visit("pack", e.pack);
  visit("engine_version", e.engine_version);
  visit("source_commit", e.source_commit);
  visit("cost_s", e.cost_s);
  visit("neighbour_limits", e.neighbour_limits);
  visit("earlier_noise", e.earlier_noise);
}

template <class Visit, Is<BuildEvent> E>
void fields(Visit& visit, E& e) {
  visit.must("recipe", e.recipe);
  visit.must("ok", e.ok);
  visit("key", e.key);
  visit("folder", e.folder);
  visit("error", e.error);
  visit("from_cache", e.from_cache);
  visit.unless(false, "out_of_time", e.out_of_time);
  visit("help_flags", e.help_flags);
  visit("cost_s", e.cost_s);
}

template <class Visit, Is<Enabled> E>
void fields(Visit& visit, E& e) {
  visit.must("build", e.build);
  visit("stock", e.stock);
  visit("climbed", e.climbed);
  visit("rungs", e.rungs);
  visit("tokens_per_word", e.tokens_per_word);
  visit("leg_requests", e.leg_requests);
  visit("warmup_requests", e.warmup_requests);
}

template <class Visit, Is<MadeEvent> E>
void fields(Visit& visit, E& e) {
  visit.must("candidate", e.candidate);
  visit.must("ok", e.ok);
  visit.unless(false, "out_of_time", e.out_of_time);
  visit("error", e.error);
  visit("model_path", e.model_path);
  visit.unless(uint64_t{0}, "model_bytes", e.model_bytes);
  visit("cost_s", e.cost_s);
}

template <class Visit, Is<ProfileNote> E>
void fields(Visit& visit, E& e) {
  visit.must("of", e.of);
  visit("leg", e.leg);
  visit("kernels", e.kernels);
  visit("roofline", e.roofline);
}

template <class Visit, Is<RecipeWritten> E>
void fields(Visit& visit, E& e) {
  visit("key", e.key);
  visit("reason", e.reason);
  visit.must("written", e.written);
  visit("items", e.items);
}

HYPERLOOM_EVENT(ModelFacts, "model")
HYPERLOOM_EVENT(Failure, "failure")
HYPERLOOM_EVENT(ProbeEvent, "probe")
HYPERLOOM_EVENT(BuildEvent, "build.done")
HYPERLOOM_EVENT(Enabled, "probe (enabled)")
HYPERLOOM_EVENT(MadeEvent, "candidate.made")
HYPERLOOM_EVENT(ProfileNote, "probe (profile)")
HYPERLOOM_EVENT(RecipeWritten, "recipe.written")

}  // namespace hyperloom
