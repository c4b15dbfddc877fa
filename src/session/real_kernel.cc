#include "session/real_kernel.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/hash.h"
#include "kernel/backend.h"
#include "session/legs.h"

namespace hyperloom {

World::Proposed backend_proposals(const Pack& pack, const SessionState& s, const fs::path& session_dir, double limit_s,
                                  const volatile bool* stop_flag) {
  KernelTask task{.task_id = s.session + "-k" + std::to_string(s.cycle), .lane = "tune", .pack = &pack};
  task.nonce = sha256_hex(task.task_id + s.incumbent.id()).substr(0, 16);
  task.machine = s.probe->machine;
  if (!s.profiles.empty()) task.kernels = s.profiles.back().kernels;
  task.current_build = build_of(s, s.incumbent);
  for (const BuildEvent& build : s.builds)
    if (!build.ok && !build.out_of_time) task.failed_builds.push_back(build.recipe);
  // What was judged already is no news.
  for (const Proposal& p : s.proposals)
    if (p.intent.change.kind == "build" && !(p.reverted && (p.reverted->code == "no_budget" || p.reverted->code == "no_evidence"))) task.failed_builds.push_back(p.intent.change.value);
  task.deadline_s = std::max(5.0, limit_s);
  fs::path work = session_dir / "kernel" / task.task_id;
  make_folders(work);
  BackendOutcome outcome = run_backend({own_program().string(), "forge"}, task, work, stop_flag);

  World::Proposed result;
  if (outcome.status != "candidates") result.notice = "kernel backend: " + outcome.status + (outcome.reason.empty() ? "" : ": " + outcome.reason);
  for (const KernelClaim& claim : outcome.claims) {
    Intent intent{.role = "backend", .kind = "propose", .phase = "kernel", .change = {"build", "build", claim.value}, .source = "forge"};
    intent.a = s.incumbent;
    intent.predicted_log = claim.expected_log;
    intent.why = claim.why;
    result.proposals.push_back(intent);
  }
  return result;
}

}  // namespace hyperloom
