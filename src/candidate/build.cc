#include "candidate/build.h"

#include <algorithm>
#include <chrono>
#include <regex>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "candidate/cache_lock.h"
#include "candidate/facts.h"
#include "os/child.h"

namespace hyperloom {
namespace {

constexpr char kComplete[] = ".complete";    // written last: a build folder without it is garbage
constexpr double kProbeLimitS = 20;
constexpr size_t kKeyDigits = 16;

std::string first_line_of(const std::vector<std::string>& argv, const fs::path& cwd = {}) {
  try {
    const RunResult run = run_child({.argv = argv, .cwd = cwd}, kProbeLimitS);
    const std::vector<std::string> lines = clean_log_lines(run.output, 300);
    return run.status.ok() && !lines.empty() ? trim(lines[0]) : "";
  } catch (const Error&) {
    return "";   // not installed
  }
}

// ${cpu.FLAG}, ${clang}, ${clang++}, ${source}: what a recipe's arguments may hold.
Variables variables_of(const std::vector<std::string>& arguments, const fs::path& source, const MachineFacts& machine) {
  const Clang clang = find_clang();
  Variables variables = {{"source", source.string()}, {"clang", clang.c}, {"clang++", clang.cxx}};
  static const std::regex kFlag("\\$\\{cpu\\.([A-Za-z0-9_.]+)\\}");
  for (const std::string& argument : arguments) {
    for (auto match = std::sregex_iterator(argument.begin(), argument.end(), kFlag); match != std::sregex_iterator(); ++match) {
      const std::string flag = (*match)[1];
      variables["cpu." + flag] = machine.has_flag(flag) ? "ON" : "OFF";
    }
  }
  return variables;
}

std::vector<std::string> configure_arguments(const BuildRecipe& recipe, const fs::path& source, const MachineFacts& machine) {
  const Variables variables = variables_of(recipe.configure, source, machine);
  std::vector<std::string> result;
  for (const std::string& argument : recipe.configure) result.push_back(expand(argument, variables));
  return result;
}

// The compiler that cmake will take: the recipe's, else CC, else cc.
std::string compiler_version(const std::vector<std::string>& arguments, const BuildRecipe& recipe) {
  std::string compiler = "cc";
  const std::map<std::string, std::string> environment = clean_environment();
  if (const auto found = environment.find("CC"); found != environment.end()) compiler = found->second;
  if (const auto found = recipe.env.find("CC"); found != recipe.env.end()) compiler = found->second;
  for (const std::string& argument : arguments) {
    if (starts_with(argument, "-DCMAKE_C_COMPILER=")) compiler = argument.substr(argument.find('=') + 1);
  }
  return first_line_of({compiler, "--version"});
}

// What the source is: its commit and, for a worktree with changes, those too.
std::string source_identity(const fs::path& source) {
  std::string identity = first_line_of({"git", "rev-parse", "HEAD"}, source);
  if (identity.empty()) return "path " + source.string();
  const RunResult changes = run_child({.argv = {"git", "diff", "HEAD"}, .cwd = source}, kProbeLimitS);
  return trim(changes.output).empty() ? identity : identity + "+" + sha256_hex(changes.output);
}

std::string key_of(const Pack& pack, const BuildRecipe& recipe, const std::vector<std::string>& arguments, const fs::path& source,
                   const MachineFacts& machine) {
  std::string text = "build 1\n" + pack.name + "\n" + source_identity(source) + "\n" + join(arguments, "\n") + "\n";
  for (const auto& [name, value] : recipe.env) text += name + "=" + value + "\n";
  // cmake takes these up when it configures. Unset ones leave the key alone.
  const std::map<std::string, std::string> environment = clean_environment();
  for (const char* name : {"CFLAGS", "CXXFLAGS", "LDFLAGS"}) {
    const auto found = environment.find(name);
    if (found != environment.end() && !found->second.empty() && recipe.env.count(name) == 0) text += found->first + "=" + found->second + "\n";
  }
  text += join(pack.build_targets, " ") + "\n" + compiler_version(arguments, recipe) + "\n" + join(machine.cpu_flags, " ");
  return sha256_hex(text).substr(0, kKeyDigits);
}

// The compiler's or cmake's first error, not the last "build stopped".
std::string first_error(const std::string& output) {
  static const std::regex kError("(^|[: ])(fatal error|error|CMake Error|undefined reference|ld returned|c\\+\\+: fatal)[: ]", std::regex::icase);
  const std::vector<std::string> lines = clean_log_lines(output, 400);
  std::string last;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!trim(lines[i]).empty()) last = trim(lines[i]);
    if (!std::regex_search(lines[i], kError) || starts_with(trim(lines[i]), "FAILED:")) continue;
    std::string error = trim(lines[i]);
    if (starts_with(error, "CMake Error") && i + 1 < lines.size()) error += " " + trim(lines[i + 1]);
    return error;
  }
  return last.empty() ? "no output" : last;
}

constexpr char kOutOfTime[] = "ran out of the time that it was given";

// Runs one step; empty when it worked, else the error in words. `log` collects everything.
std::string run_step(std::vector<std::string> argv, const std::map<std::string, std::string>& env, const fs::path& log, double limit_s,
                     const Progress& progress, const volatile bool* stop_flag) {
  if (limit_s <= 0) return kOutOfTime;
  const std::vector<std::string> niced = {"nice", "-n", "10"};
  argv.insert(argv.begin(), niced.begin(), niced.end());
  const SystemClock clock;
  const double start = clock.mono_s();
  std::unique_ptr<Child> child = Child::spawn({.argv = std::move(argv), .env = env, .output = log});
  std::string told;
  std::optional<ExitStatus> status;
  while (!(status = child->wait(0.5))) {
    const bool stopped = stop_flag != nullptr && *stop_flag;
    if (stopped || clock.mono_s() - start > limit_s) {
      child->stop(2);
      return stopped ? "stopped by request" : kOutOfTime;
    }
    const std::vector<std::string> lines = clean_log_lines(read_file(log), 200);
    if (progress && !lines.empty() && lines.back() != told) progress(told = lines.back());   // "[12/345] Building ..."
  }
  return status->ok() ? "" : first_error(read_file(log));
}

void make_empty(const fs::path& folder) {
  std::error_code problem;
  fs::remove_all(folder, problem);
  if (!problem) fs::create_directories(folder, problem);
  if (problem) {
    throw internal_error("cannot make the build folder " + folder.string() + ": " + problem.message(),
                         "free space or mend its rights, or set HYPERLOOM_CACHE to another folder");
  }
}

bool complete(const Pack& pack, const fs::path& folder) {
  std::error_code problem;
  return fs::exists(folder / kComplete, problem) && fs::exists(folder / pack.server_binary, problem);
}

std::map<std::string, std::string> build_environment(const BuildRecipe& recipe, const fs::path& source) {
  std::map<std::string, std::string> env = recipe.env;
  // Different build folders share objects: paths below the base are hashed as relative ones, the folder is not hashed.
  env["CCACHE_BASEDIR"] = source.parent_path().parent_path().string();
  env["CCACHE_NOHASHDIR"] = "1";
  env["NINJA_STATUS"] = "[%f/%t] ";
  return env;
}

}  // namespace

BuildResult build_engine(const Pack& pack, const BuildRecipe& recipe, const fs::path& source, const MachineFacts& machine, double limit_s,
                         const Progress& progress, const volatile bool* stop_flag) {
  const SystemClock clock;
  const double start = clock.mono_s();
  BuildResult result;
  const std::vector<std::string> arguments = configure_arguments(recipe, source, machine);
  result.key = key_of(pack, recipe, arguments, source, machine);
  // Built where it stays: build folders hold absolute paths and run paths, a moved one would load another's libraries.
  result.folder = cache_root() / "builds" / (pack.name + "-" + result.key);
  if (complete(pack, result.folder)) {   // before the lock, which a cache that may only be read cannot give
    result.ok = result.from_cache = true;
    return result;
  }
  const CacheLock lock(result.folder.string() + ".lock", stop_flag);
  if (!lock.held()) {
    result.error = "stopped while waiting for another process that makes the same build";
    return result;
  }
  if (complete(pack, result.folder)) {   // the one that we waited for
    result.ok = result.from_cache = true;
    return result;
  }
  make_empty(result.folder);
  const fs::path log = result.folder / "build.log";
  std::vector<std::string> configure = {"cmake", "-S", source.string(), "-B", result.folder.string()};
  if (!first_line_of({"ninja", "--version"}).empty()) configure.insert(configure.begin() + 1, {"-G", "Ninja"});
  configure.insert(configure.end(), arguments.begin(), arguments.end());
  if (!first_line_of({"ccache", "--version"}).empty()) {
    configure.push_back("-DCMAKE_C_COMPILER_LAUNCHER=ccache");
    configure.push_back("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache");
  }
  std::vector<std::string> make = {"cmake", "--build", result.folder.string(), "-j", std::to_string(std::max(1, machine.cores)), "--target"};
  make.insert(make.end(), pack.build_targets.begin(), pack.build_targets.end());
  const std::map<std::string, std::string> env = build_environment(recipe, source);
  try {
    if (progress) progress("configuring build " + recipe.id);
    result.error = run_step(configure, env, log, limit_s, progress, stop_flag);
    if (result.error.empty()) result.error = run_step(make, env, log, limit_s - (clock.mono_s() - start), progress, stop_flag);
    if (result.error.empty() && !fs::exists(result.folder / pack.server_binary)) {
      result.error = "the build made no " + pack.server_binary;
    }
    if (result.error.empty()) write_file(result.folder / kComplete, recipe.id + "\n");
  } catch (const Error& error) {
    result.error = error.what();
    if (error.kind() == ErrorKind::BadInput) result.error += " (install cmake, and ninja or make)";
  }
  result.seconds = clock.mono_s() - start;
  result.ok = result.error.empty();
  result.out_of_time = result.error == kOutOfTime;
  if (result.ok) return result;
  std::error_code ignored;
  if (disk_full(result.folder, (fs::exists(log, ignored) ? read_file(log) : "") + result.error)) {
    result.error = "the disk of " + cache_root().string() + " is full (free some, or set HYPERLOOM_CACHE to another): " + result.error;
    result.out_of_time = true;
  }
  fs::remove_all(result.folder, ignored);
  return result;
}

}  // namespace hyperloom
