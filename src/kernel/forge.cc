// forge, the built-in backend: one lane, `tune`, which picks among the pack's build variants. No
// model, no network.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "kernel/backend.h"
#include "kernel/bundle.h"
#include "kernel/forge_order.h"

namespace hyperloom {
namespace {

enum Exit { kFinished = 0, kBadInput = 2, kUnusable = 3, kTooLittleTime = 4 };

constexpr double kLeastBudget = 1;  // seconds

double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// stdout is the heartbeat: one event a line, flushed.
class Events {
 public:
  void say(const char* kind, const std::string& message) {
    const Json event = {{"seq", seq_++}, {"t", unix_now_s()}, {"kind", kind}, {"message", message}};
    std::puts(event.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
  }

 private:
  int seq_ = 0;
};

Json read_json(const fs::path& file) {
  Json json = Json::parse(read_file(file), nullptr, false);
  if (json.is_discarded()) throw bad_input(file.string() + " is not JSON");
  return json;
}

ForgeView read_view(const fs::path& bundle, const Json& task) {
  ForgeView view;
  const Json recipes = read_json(bundle / "recipes.json");
  recipes.at("recipes").get_to(view.recipes);
  if (recipes.contains("current")) recipes["current"].get_to(view.current);
  view.current.id = task.at("current_build");
  task.at("failed_builds").get_to(view.failed);
  read_json(bundle / "profile" / "kernels.json").get_to(view.kernels);
  read_json(bundle / "toolchain.json").get_to(view.toolchain);
  return view;
}

Json result_of(const Json& task, const ForgeOrder& order, size_t most) {
  Json candidates = Json::array();
  for (const BuildOffer& offer : order.offers) {
    if (candidates.size() == most) break;
    candidates.push_back({{"id", "forge-" + offer.recipe},
                          {"kind", "build"},
                          {"value", offer.recipe},
                          {"expected_log", offer.expected_log},
                          {"why", offer.why}});
  }
  std::string reason;
  for (const std::string& dropped : order.dropped)
    reason += (reason.empty() ? "left out: " : "; ") + dropped;
  if (candidates.empty() && reason.empty())
    reason = "the bundle holds no build variant for this machine";
  return {{"protocol", kBackendProtocol},
          {"task_id", task.at("task_id")},
          {"nonce", task.at("nonce")},
          {"status", candidates.empty() ? "no_candidate" : "candidates"},
          {"reason", reason},
          {"candidates", candidates}};
}

}  // namespace

std::string forge_capabilities() {
  return Json{{"name", "forge"},    {"protocol_versions", {kBackendProtocol}},
              {"lanes", {"tune"}},  {"languages", Json::array()},
              {"archs", {"any"}},   {"min_budget_s", kLeastBudget},
              {"needs_gpu", false}, {"deterministic", true}}
      .dump();
}

int forge_main(const fs::path& bundle_dir, const fs::path& out_dir) {
  Events events;
  Json result;
  try {
    events.say("progress", "reading the bundle");
    if (const std::string damage = bundle_damage(bundle_dir); !damage.empty())
      throw bad_input("bundle: " + damage);
    const Json task = read_json(bundle_dir / "task.json");
    if (task.at("protocol") != kBackendProtocol)
      throw bad_input("task.json: protocol " + task.at("protocol").dump() + " is not 1");
    if (task.at("lane") != "tune")
      throw bad_input("task.json: lane " + task.at("lane").dump() + " is not `tune`");
    if (task.at("deadline").get<double>() - unix_now_s() < kLeastBudget) {
      events.say("log", "less than a second is left");
      return kTooLittleTime;
    }
    const ForgeOrder order = order_builds(read_view(bundle_dir, task));
    for (const std::string& dropped : order.dropped) events.say("log", "left out " + dropped);
    for (const BuildOffer& offer : order.offers)
      events.say("candidate", fmt::format("{} ({:+.1f} % expected): {}", offer.recipe,
                                          100 * offer.expected_log, offer.why));
    result = result_of(task, order, task.at("limits").at("candidates"));
  } catch (const std::exception& error) {  // Error and the JSON library's
    events.say("log", error.what());
    std::fprintf(stderr, "forge: %s\n", error.what());
    return kBadInput;
  }
  try {
    write_file(out_dir / "result.json",
               result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const Error& error) {
    std::fprintf(stderr, "forge: %s\n", error.what());
    return kUnusable;
  }
  events.say("progress", "done");
  return kFinished;
}

}  // namespace hyperloom
