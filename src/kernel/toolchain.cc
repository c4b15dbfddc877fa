#include "kernel/toolchain.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "os/child.h"

namespace hyperloom {
namespace {

constexpr double kVersionLimit =
    5;  // seconds; a compiler behind a dead network mount must not hold us up

bool executable(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

// The first line of what `argv` prints, or nothing when it fails.
std::optional<std::string> first_line(const std::vector<std::string>& argv) {
  ChildSpec spec;
  spec.argv = argv;
  const RunResult run = run_child(spec, kVersionLimit);
  if (run.timed_out || !run.status.ok()) return std::nullopt;
  for (const std::string& line : clean_log_lines(run.output, 200))
    if (!trim(line).empty()) return trim(line);
  return std::string();
}

void tools_to_json(Json& json, const std::vector<Tool>& tools) {
  json = Json::array();
  for (const Tool& tool : tools)
    json.push_back({{"name", tool.name}, {"path", tool.path}, {"version", tool.version}});
}

std::vector<Tool> tools_from_json(const Json& json) {
  std::vector<Tool> tools;
  for (const Json& tool : json)
    tools.push_back({tool.at("name"), tool.at("path"), tool.at("version")});
  return tools;
}

}  // namespace

void to_json(Json& json, const Toolchain& toolchain) {
  json = Json::object();
  tools_to_json(json["programs"], toolchain.programs);
  tools_to_json(json["libraries"], toolchain.libraries);
}

void from_json(const Json& json, Toolchain& toolchain) {
  toolchain.programs = tools_from_json(json.at("programs"));
  toolchain.libraries = tools_from_json(json.at("libraries"));
}

std::optional<std::string> find_program(const std::string& name) {
  std::error_code ignored;
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    const fs::path file = fs::absolute(name, ignored);
    return executable(file) ? std::optional(file.string()) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    if (folder.empty() || folder[0] != '/')
      continue;  // the current folder is not a place for compilers
    if (executable(fs::path(folder) / name)) return (fs::path(folder) / name).string();
  }
  return std::nullopt;
}

Toolchain probe_toolchain(const std::vector<std::string>& extra) {
  std::vector<std::string> names = {"gcc",   "g++",    "clang", "clang++", "cmake",
                                    "ninja", "ccache", "mold",  "nvcc",    "hipcc"};
  for (const std::string& name : extra)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  Toolchain toolchain;
  for (const std::string& name : names)
    if (const auto path = find_program(name))
      if (const auto version = first_line({*path, "--version"}))
        toolchain.programs.push_back({name, *path, *version});
  if (const auto pkg_config = find_program("pkg-config"))
    for (const char* library : {"openblas", "blis", "mkl-dynamic-lp64-seq"})
      if (const auto version = first_line({*pkg_config, "--modversion", library}))
        toolchain.libraries.push_back({library, "", *version});
  return toolchain;
}

}  // namespace hyperloom
