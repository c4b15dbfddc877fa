// `hyperloom doctor`: what this machine offers and lacks. It looks, and changes nothing.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "candidate/facts.h"
#include "cli/commands.h"
#include "cli/doctor_noise.h"
#include "kernel/sandbox.h"
#include "kernel/toolchain.h"
#include "os/cgroup.h"
#include "os/child.h"
#include "os/machine.h"
#include "recipe/recipe_db.h"

namespace hyperloom {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kRoomForBuilds = 5 * kGib;    // source, a few builds, requantized weights of a small model

enum class Need { Essential, Useful };

class Findings {
 public:
  void ok(const std::string& what, const std::string& seen) { print("ok", what, seen, ""); }
  void lacks(Need need, const std::string& what, const std::string& seen, const std::string& mend) {
    essential_ += need == Need::Essential;
    useful_ += need == Need::Useful;
    print(need == Need::Essential ? "MISSING" : "missing", what, seen, mend);
  }
  int finish() const {
    std::printf("\n%s\n", essential_ > 0 ? (std::to_string(essential_) + " essential thing" + (essential_ > 1 ? "s are" : " is") + " missing").c_str()
                          : useful_ > 0  ? ("ready; " + std::to_string(useful_) + " thing" + (useful_ > 1 ? "s" : "") + " would help").c_str()
                                         : "ready");
    std::printf("`hyperloom doctor --noise` measures how well this machine can tell two configurations apart\n");
    return essential_ > 0 ? 1 : 0;
  }

 private:
  static void print(const char* state, const std::string& what, const std::string& seen, const std::string& mend) {
    std::printf("%-8s %-14s %s\n", state, what.c_str(), seen.c_str());
    if (!mend.empty()) std::printf("%-8s %-14s mend: %s\n", "", "", mend.c_str());
  }
  int essential_ = 0, useful_ = 0;
};

void look_at_machine(Findings& f) {
  const MachineFacts machine = probe_machine();
  f.ok("CPU", machine.cpu_name + ", " + std::to_string(machine.cores) + (machine.cores == 1 ? " core" : " cores") +
                  (machine.numa_nodes > 1 ? ", " + std::to_string(machine.numa_nodes) + " NUMA nodes" : ""));
  std::vector<std::string> sets;
  for (const char* set : {"avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "asimd", "asimddp", "i8mm", "sve"})
    if (machine.has_flag(set)) sets.push_back(set);
  f.ok("instructions", sets.empty() ? "no wide ones" : join(sets, " "));
  const double memory = static_cast<double>(machine.memory_bytes);
  if (memory < 1.5 * kGib) f.lacks(Need::Useful, "memory", format_bytes(memory), "the demo's model needs about 1 GB");
  else f.ok("memory", format_bytes(memory) + " that this process may use");
  std::string gpus;
  for (const GpuFacts& gpu : machine.gpus) gpus += (gpus.empty() ? "" : ", ") + gpu.vendor + " " + gpu.name + " " + std::to_string(static_cast<int>(gpu.memory_gib)) + " GiB";
  f.ok("GPUs", gpus.empty() ? "none: engines run on the CPU" : gpus);
  const std::string governor = cpu_governor();
  if (governor.empty()) f.ok("governor", "not told by this kernel (usual in virtual machines)");
  else if (governor == "performance") f.ok("governor", governor);
  else f.lacks(Need::Useful, "governor", governor + ": clocks follow the load, which is noise", "sudo cpupower frequency-set -g performance");
}

std::string first_line(const std::vector<std::string>& argv) {
  try {
    const RunResult result = run_child({.argv = argv, .env = {{"LC_ALL", "C"}}}, 10);
    return trim(result.output.substr(0, result.output.find('\n'))).substr(0, 80);
  } catch (const Error&) {
    return "";
  }
}

// A program on PATH, with the first line of what it says of itself.
void look_for(Findings& f, Need need, const std::string& name, const std::string& why, const std::string& mend) {
  const auto found = find_program(name);
  if (!found) f.lacks(need, name, "not found: " + why, mend);
  else f.ok(name, *found + "  " + first_line({*found, "--version"}));
}

void look_for_tools(Findings& f) {
  const Clang clang = find_clang();
  bool compiler = false;
  for (const std::string& name : std::vector<std::string>{"c++", "g++", clang.cxx}) {
    if (compiler || name.empty()) continue;
    if (const auto found = find_program(name)) {
      f.ok("C++ compiler", *found + "  " + first_line({*found, "--version"}));
      compiler = true;
    }
  }
  if (!compiler) f.lacks(Need::Essential, "C++ compiler", "not found: engines are built from source", "apt-get install g++ (or name your own server in engine.command)");
  if (clang.version > 0) f.ok("clang", clang.cxx + ": builds by a second compiler can be tried");
  else f.lacks(Need::Useful, "clang", "not found: builds by a second compiler cannot be tried", "apt-get install clang");
  look_for(f, Need::Essential, "cmake", "engines are built from source", "apt-get install cmake");
  look_for(f, Need::Useful, "ninja", "make builds too, but slower", "apt-get install ninja-build");
  look_for(f, Need::Useful, "ccache", "each build variant compiles everything anew", "apt-get install ccache");
  look_for(f, Need::Essential, "git", "sources are unpacked and patches applied with it", "apt-get install git");
  look_for(f, Need::Useful, "npm", "the engine's source is then fetched with curl", "apt-get install npm");
  const std::string pip = first_line({"python3", "-m", "pip", "--version"});
  if (starts_with(pip, "pip ")) f.ok("pip", pip);
  else f.lacks(Need::Useful, "pip", "not usable: the demo's model cannot be fetched", "apt-get install python3-pip, or bring a model with --model");
}

std::string perf_problem() {
  if (!find_program("perf")) return "not found";
  const TempDir folder("hyperloom-doctor");
  const RunResult result = run_child({.argv = {"perf", "record", "-q", "-e", "cpu-clock", "-o", (folder.path() / "p").string(), "--", "true"},
                                      .env = {{"LC_ALL", "C"}, {"PERF_CONFIG", "/dev/null"}}}, 20);
  if (result.status.ok() && !result.timed_out) return "";
  for (const std::string& line : clean_log_lines(result.output, 120))
    if (const std::string text = trim(line); !text.empty() && text != "Error:") return text;
  return result.timed_out ? "hangs" : result.status.text();
}

void look_at_rights(Findings& f) {
  if (const std::string problem = perf_problem(); problem.empty()) f.ok("perf", "samples our own processes");
  else f.lacks(Need::Useful, "perf", problem + ": no profile, so no roofline and no kernel shares",
               "apt-get install linux-perf (Debian) or linux-tools-generic (Ubuntu); sudo sysctl kernel.perf_event_paranoid=1");
  if (const std::string& problem = sandbox_problem(); problem.empty()) f.ok("bwrap", "confines kernel backends");
  else f.lacks(Need::Useful, "bwrap", problem + ": kernel backends run with resource limits only", "apt-get install bubblewrap, and allow user namespaces");
  const fs::path group = make_cgroup("hyperloom-doctor-" + std::to_string(getpid()));
  if (group.empty()) f.ok("cgroup", "none of our own: servers are held by process group and session");
  else f.ok("cgroup", "servers get one each"), remove_cgroup(group);
}

// Whether a file can be made in the nearest folder of `path` that exists.
bool writable(fs::path path) {
  std::error_code none;
  while (!fs::exists(path, none) && path.has_relative_path()) path = path.parent_path();
  return access(path.c_str(), W_OK | X_OK) == 0;
}

void look_at_places(Findings& f) {
  const fs::path cache = cache_root(), data = data_root();
  std::error_code problem;
  fs::path there = cache;
  while (!fs::exists(there, problem) && there.has_relative_path()) there = there.parent_path();
  const double free = static_cast<double>(fs::space(there, problem).available);
  if (!writable(cache)) f.lacks(Need::Essential, "cache", cache.string() + " cannot be written", "set HYPERLOOM_CACHE to a folder of yours");
  else if (!problem && free < kRoomForBuilds) f.lacks(Need::Useful, "cache", cache.string() + ", only " + format_bytes(free) + " free", "free some space, or set HYPERLOOM_CACHE to another disk");
  else f.ok("cache", cache.string() + ", " + format_bytes(free) + " free");
  if (!writable(data)) f.lacks(Need::Essential, "sessions", data.string() + " cannot be written", "set HYPERLOOM_DATA to a folder of yours");
  else f.ok("sessions", data.string());

  const fs::path recipes = data / "recipes.db";
  if (!fs::exists(recipes, problem)) {
    f.ok("recipes", "none yet; the first closed session writes " + recipes.string());
  } else {
    const auto db = RecipeDb::open(recipes);
    if (db->notice().empty()) f.ok("recipes", std::to_string(db->list().size()) + " in " + recipes.string());
    else f.lacks(Need::Useful, "recipes", db->notice(), "sessions go on without what earlier ones taught");
  }

  const std::vector<std::string> packs = known_packs();
  std::vector<std::string> good;
  for (const std::string& name : packs) {
    try {
      load_pack(name);
      good.push_back(name);
    } catch (const Error& error) {
      f.lacks(Need::Useful, "pack " + name, error.what(), error.mend());
    }
  }
  if (good.empty()) f.lacks(Need::Essential, "packs", "no engine pack in " + engines_root().string(), "set HYPERLOOM_ENGINES to the folder engines/ of hyperloom");
  else f.ok("packs", join(good, ", ") + " in " + engines_root().string());
}

}  // namespace

std::string cpu_governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string governor;
  file >> governor;
  return governor;
}

int doctor_command(const DoctorOptions& options) {
  if (options.noise) return doctor_noise(options);
  if (!options.workload.empty()) throw bad_input("--workload is for --noise", "add --noise, or leave --workload out");
  if (options.json) throw bad_input("--json is for --noise", "add --noise, or leave --json out");
  if (!options.save_legs.empty()) throw bad_input("--save-legs is for --noise", "add --noise, or leave --save-legs out");
  Findings findings;
  look_at_machine(findings);
  look_for_tools(findings);
  look_at_rights(findings);
  look_at_places(findings);
  return findings.finish();
}

}  // namespace hyperloom
