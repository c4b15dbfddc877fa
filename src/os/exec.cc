#include "os/exec.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace hyperloom {
namespace {

bool is_program(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return name;
  for (const std::string& folder : split(path, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  throw bad_input("cannot start " + name + ": not found on PATH (" + path + ")",
                  "install " + name + ", or give its full path");
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void give_up(const ExecPlan& plan, ExecStage stage) {
  const ExecFailure failure{stage, errno};
  (void)!::write(plan.report, &failure, sizeof failure);
  ::_exit(127);
}

void reset_signals() {
  // Ignored signals stay ignored across exec: an engine must not inherit that we ignore SIGPIPE.
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void close_all_at_exec() {
  // For descriptors that libraries opened without O_CLOEXEC. Linux 5.11; before it, the first
  // thousand.
#ifdef SYS_close_range
  constexpr unsigned kCloseRangeCloexec = 4;
  if (::syscall(SYS_close_range, 3u, ~0u, kCloseRangeCloexec) == 0) return;
#endif
  for (int fd = 3; fd < 1024; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace

ExecWords::ExecWords(const ChildSpec& spec, const std::string& mark_variable)
    : cwd_(spec.cwd.string()), arguments_(spec.argv) {
  auto environment = clean_environment();
  for (const auto& [name, value] : spec.env) environment[name] = value;
  environment.erase(mark_variable);
  for (const auto& [name, value] : environment) variables_.push_back(name + "=" + value);
  variables_.push_back(mark_variable + "=" + std::string(sizeof(ExecGo::mark), '\0'));
  const auto path = environment.find("PATH");
  program_ = find_program(
      spec.argv[0], path == environment.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second);
  argv_ = pointers_to(arguments_);
  environment_ = pointers_to(variables_);
  plan_.program = program_.c_str();
  plan_.argv = argv_.data();
  plan_.environment = environment_.data();
  plan_.mark = variables_.back().data() + mark_variable.size() + 1;
  plan_.cwd = spec.cwd.empty() ? nullptr : cwd_.c_str();
  plan_.memory_limit_bytes = spec.memory_limit_bytes;
}

void exec_in_child(const ExecPlan& plan) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);  // it died before the line above took hold
  ::setsid();
  close_all_at_exec();
  ExecGo go{};
  ssize_t count = 0;
  while ((count = ::read(plan.go, &go, sizeof go)) < 0 && errno == EINTR) {
  }
  if (count != static_cast<ssize_t>(sizeof go)) ::_exit(127);
  std::memcpy(plan.mark, go.mark, sizeof go.mark);
  reset_signals();
  if (plan.cwd && ::chdir(plan.cwd) != 0) give_up(plan, ExecStage::Folder);
  if (plan.memory_limit_bytes > 0) {
    const rlimit limit{plan.memory_limit_bytes, plan.memory_limit_bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) give_up(plan, ExecStage::Memory);
  }
  if (::dup2(plan.input, 0) < 0 || ::dup2(plan.output, 1) < 0 || ::dup2(plan.output, 2) < 0) {
    give_up(plan, ExecStage::Output);
  }
  ::execve(plan.program, plan.argv, plan.environment);
  give_up(plan, ExecStage::Program);
}

Error explain(const ExecFailure& failure, const ChildSpec& spec) {
  const std::string& name = spec.argv[0];
  const std::string reason = std::strerror(failure.error);
  switch (failure.stage) {
    case ExecStage::Folder:
      return bad_input("cannot start " + name + " in " + spec.cwd.string() + ": " + reason,
                       "make the folder, or name another");
    case ExecStage::Memory:
      return bad_input("cannot limit the memory of " + name + " to " +
                           std::to_string(spec.memory_limit_bytes) + " bytes: " + reason,
                       "a limit may not be above the hard limit (ulimit -H -v)");
    case ExecStage::Output:
      return internal_error("cannot redirect the output of " + name + ": " + reason);
    case ExecStage::Program:
      break;
  }
  const std::string place =
      spec.cwd.empty() || name.front() == '/' ? name : (spec.cwd / name).string();
  struct stat info{};
  const bool exists = ::stat(place.c_str(), &info) == 0;
  std::string mend = "check the path";
  if (failure.error == EACCES)
    mend = "make it executable (chmod +x), on a file system mounted without noexec";
  if (exists && S_ISDIR(info.st_mode)) mend = "it is a folder: name the program in it";
  if (failure.error == ENOEXEC)
    mend = "it is no program for this machine, or a script without a #! line";
  if (failure.error == ENOENT && exists)
    mend = "the interpreter or loader that it names is missing: reinstall it";
  if (failure.error == E2BIG) mend = "shorten its arguments and environment";
  return bad_input("cannot start " + name + ": " + reason, mend);
}

}  // namespace hyperloom
