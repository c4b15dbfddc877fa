// An engine pack: the data file that teaches us an engine (docs/formats.md, docs/packs.md). No engine's name
// appears in src/.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/expand.h"

namespace hyperloom {

enum class Direction { Memory, Compute, Host, Communication };
const char* name_of(Direction direction);
std::optional<Direction> direction_from(const std::string& name);

struct Knob {
  std::string name;                      // also how a report and a recipe call it: "-np", "OMP_WAIT_POLICY", "weights"
  std::string kind;                      // flag | env | precision | build | patch | table
  std::string type;                      // bool | int | float | enum
  std::vector<std::string> values;       // literals or expressions ("traffic.clients"); bool flags: "true"
  std::string stock;                     // value or expression assumed when not set, or "probe"
  std::string when, forbid;              // expressions (engine/expression.h); empty = always, never
  std::string numerics = "exact";        // exact | approximate | semantic
  std::string cost = "boot";             // boot | requantize | build
  std::vector<Direction> directions;
  int expert_rank = 100;                 // known good moves first
  std::string see;                       // where the knowledge comes from
  std::string help_name;                 // what `--help` must show for the knob to exist here; default: name
  std::vector<std::string> aliases;      // other spellings in a user's argv ("--parallel")
  std::map<std::string, std::string> companions;  // flag -> expression, set along with this knob unless it is 0 or missing
  int line = 0;                          // in pack.yaml, for messages
  bool has_stock() const { return !stock.empty() && stock != "probe"; }
};

struct BuildRecipe {                     // one way to make the engine from its source
  std::string id;
  std::vector<std::string> configure;    // cmake arguments
  std::map<std::string, std::string> env;
  std::string when;                      // expression
  std::string role;                      // stock | enable (a rung of the ladder) | tune (a kernel-phase variant)
  std::vector<Direction> directions;
};

struct FailurePattern {
  // Regexes on cleaned lines; a `match` with \n looks at up to 4 lines from there on. `unless` looks at the same text.
  std::string id, phase, match, unless;
  // illegal_instruction, missing_library, out_of_memory, port_in_use, bad_flag, bad_model, ...; "wrapper" and "benign"
  // are no failures: such lines are never the cause.
  std::string failure_class;
  std::string first_move;                // words for the report
  std::string rung;                      // flags | patch | checkout | rebuild | none
  std::vector<std::pair<std::string, std::string>> tries;   // knob, value: flags that may get past it (pack: tries: {knob: value})
};

struct ToolCommand { std::vector<std::string> argv; std::map<std::string, std::string> read; };   // read: value name -> regex with one group

struct Pack {
  std::filesystem::path folder;
  std::string name, versions;
  std::vector<std::string> launch_argv;  // ${server} ${model} ${port}
  std::map<std::string, std::string> launch_env;
  int stop_signal = 15;
  double stop_grace_s = 10, ready_timeout_s = 120;
  std::string health_path;               // GET, 200 = maybe ready
  std::string ready_expect;              // regex on the completion's text, may be empty: any token
  std::map<std::string, std::string> effective;   // knob name -> "GET path#json pointer" or "log:regex"
  std::map<std::string, std::string> metrics;     // ours -> theirs (Prometheus names); `metrics_path`
  std::string metrics_path;
  std::vector<std::string> help_argv;    // prints the flags of the installed build
  std::string source_root;               // ${source}: set by the source fetcher
  std::map<std::string, std::string> source;      // npm/pypi/git pins: see candidate/source.h
  std::vector<std::string> build_targets;
  std::string server_binary;             // path inside a build folder
  std::vector<BuildRecipe> builds;
  std::optional<ToolCommand> requantize; // ${tools} ${model} ${out} ${value}
  // ${tools} ${model} ${text} ${base}, and an argument "${flags}" that stands for a list. read of kl_compare:
  // mean_kl, ppl_ratio (candidate / stock), top1 (percent), each also as ..._se, and chunks.
  std::optional<ToolCommand> kl_base, kl_compare;
  std::vector<std::string> kl_flags;     // knob names whose setting the quality tool understands and must share
  std::vector<std::string> kernel_symbols;        // regexes: symbols that are compute kernels, "name=regex" per group
  std::vector<std::string> barrier_symbols;       // regexes: time in barriers and collectives
  std::vector<Knob> knobs;
  std::vector<FailurePattern> failures;

  const Knob* knob(const std::string& name) const;
  const BuildRecipe* build(const std::string& id) const;
};

// Error(BadInput) names pack file:line, key and mend.
Pack load_pack(const std::string& name_or_folder);
std::vector<std::string> known_packs();

}  // namespace hyperloom
