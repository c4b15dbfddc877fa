// What happens in the child between fork and exec, where only async-signal-safe calls are allowed:
// all memory is prepared before the fork (ExecWords), the child only uses it (exec_in_child).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "os/child.h"

namespace hyperloom {

// Borrowed pointers and descriptors, all above 2.
struct ExecPlan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  char* mark = nullptr;       // room for ExecGo::mark inside one of the environment's entries
  const char* cwd = nullptr;  // nullptr = stay
  uint64_t memory_limit_bytes = 0;
  int input = -1, output = -1;
  int go = -1;      // the child waits here for an ExecGo; an early end means: leave
  int report = -1;  // where it writes an ExecFailure
  pid_t parent = 0;
};

struct ExecGo {
  char mark[64];
};
enum class ExecStage : int { Folder, Memory, Output, Program };
struct ExecFailure {
  ExecStage stage;
  int error;
};

// Owns the words that an ExecPlan points to. Error(BadInput) when argv[0] is not on PATH.
class ExecWords {
 public:
  ExecWords(const ChildSpec& spec, const std::string& mark_variable);
  ExecWords(const ExecWords&) = delete;
  ExecPlan plan() const { return plan_; }

 private:
  std::string program_, cwd_;
  std::vector<std::string> arguments_, variables_;
  std::vector<char*> argv_, environment_;
  ExecPlan plan_;
};

[[noreturn]] void exec_in_child(const ExecPlan& plan);
Error explain(const ExecFailure& failure, const ChildSpec& spec);

}  // namespace hyperloom
