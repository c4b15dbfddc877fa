// Builds of an engine, each in its own folder under the cache, keyed by source, recipe and CPU features. A hit
// counts only once it has been run again on this machine (its key may lie: engines.md, AMX).
#pragma once

#include <filesystem>
#include <string>

#include "candidate/source.h"
#include "engine/pack.h"
#include "os/machine.h"

namespace hyperloom {

struct BuildResult {
  bool ok = false;
  bool from_cache = false;
  bool out_of_time = false;            // `limit_s` or a full disk ended it: no evidence; what was compiled stays in the compiler cache
  std::filesystem::path folder;        // holds bin/...
  std::string key;                     // 16 hex
  std::string error;                   // the compiler's first error
  double seconds = 0;
};

// Bounded by `limit_s`; niced; uses ccache when there is one. A failed or killed build leaves no half folder.
// A cache that may only be read serves the builds that it holds.
BuildResult build_engine(const Pack& pack, const BuildRecipe& recipe, const std::filesystem::path& source,
                         const MachineFacts& machine, double limit_s, const Progress& progress,
                         const volatile bool* stop_flag = nullptr);

}  // namespace hyperloom
