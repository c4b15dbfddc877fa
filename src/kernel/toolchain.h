// Which compilers, build tools and linear-algebra libraries this machine has: what a backend may
// count on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace hyperloom {

struct Tool {
  std::string name, path, version;
};  // version: the first line that it prints, or the library's

struct Toolchain {
  std::vector<Tool> programs;
  std::vector<Tool> libraries;  // BLAS, as pkg-config knows them; path empty
};
void to_json(Json& json, const Toolchain& toolchain);
void from_json(const Json& json, Toolchain& toolchain);

// The program's absolute path when `name` (looked up on PATH when it has no slash) may be executed.
std::optional<std::string> find_program(const std::string& name);

// Runs each `--version` once, with a limit. `extra`: programs that build recipes name.
Toolchain probe_toolchain(const std::vector<std::string>& extra = {});

}  // namespace hyperloom
