// fork and exec, with all that a child of ours needs in between. Used by Child alone.
#pragma once

#include <string>

#include "os/child.h"
#include "base/descriptor.h"

namespace hyperloom {

// Set in every child to family_mark(handle), and so inherited by all that it starts.
inline constexpr char kFamilyVariable[] = "HYPERLOOM_FAMILY";
std::string family_mark(const ProcessHandle& handle);

struct Spawned {
  ProcessHandle handle;
  Descriptor pidfd;
};

// Returns once the program has replaced the forked process. Error(BadInput) names argv[0] when it
// cannot; Error(Internal) when the system has no process, descriptor or pidfd left.
Spawned spawn_process(const ChildSpec& spec);

// The spawned root is reaped, and no longer anybody's: its pid is free again.
void reap_root(pid_t pid);
// Reaps orphans that came to us because we are the subreaper; leaves the roots to their owners, and
// children that other code forked alone (those stay in our session).
void reap_orphans();

}  // namespace hyperloom
