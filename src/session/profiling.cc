#include "session/profiling.h"

#include <algorithm>
#include <cstdlib>

#include "session/legs.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

double weight_ratio(const SessionState& s, const Candidate& candidate) {
  for (const Change& change : candidate.changes)
    if (change.kind == "precision")
      if (const MadeEvent* made = s.made_for(Candidate{}.with(change)); made && made->model_bytes > 0 && s.probe->model.bytes > 0)
        return static_cast<double>(made->model_bytes) / static_cast<double>(s.probe->model.bytes);
  return 1;
}

// Sequences decoded together: what the engine says of its slots, at most the clients.
double sequences(const SessionState& s, const LegResult& r) {
  double clients = std::max(1, s.workload.traffic.clients);
  for (const char* knob : {"-np", "slots"})
    if (auto at = r.effective.find(knob); at != r.effective.end())
      if (double slots = std::atof(at->second.c_str()); slots > 0) return std::min(slots, clients);
  return clients;
}

}  // namespace

std::optional<Step> profile_of(const Rules&, const SessionState& s, const std::string& of, const Candidate& candidate) {
  std::string group = "profile:" + of + ":" + candidate.id();
  for (const ProfileNote& note : s.profiles)
    if (note.leg == "none:" + group || (s.leg(note.leg) && s.leg(note.leg)->plan.group == group)) return {};
  int tried = 0;
  for (const LegRecord& leg : s.legs) {
    if (leg.plan.group != group) continue;
    tried += !leg.interrupted();
    if (!leg.good()) continue;
    const LegResult& r = *leg.done->result;
    KernelTable kernels = leg.done->kernels.value_or(KernelTable{});
    ProfileNote note{.leg = leg.plan.id, .kernels = kernels, .of = of};
    MachineRoofs roofs = s.probe->roofs;
    roofs.narrow_factor = narrow_factor(s.probe->machine.cpu_flags);
    if (!s.probe->machine.gpus.empty()) roofs = {};   // measured on the CPU, which does not serve
    note.roofline = make_roofline(s.probe->model, roofs, r.load, sequences(s, r), kernels, weight_ratio(s, candidate));
    Json body = note;
    body["what"] = "profile";
    return emit("probe", "profile:" + of, body);
  }
  if (tried >= 2) return {};   // goes on without: the report says that there is no profile
  DoLeg leg = plan_leg(s, "profile", group, "a", 0, candidate);
  leg.plan.attempt = tried;
  return leg;
}

}  // namespace hyperloom
