#include "candidate/launch_plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "candidate/user_flags.h"

namespace hyperloom {
namespace {

// The server's own argv, before flags. ${port} survives: the server picks it when it starts.
std::vector<std::string> base_argv(const Pack& pack, const Workload& workload, const std::filesystem::path& build,
                                   const std::filesystem::path& model) {
  Variables variables = {{"model", model.string()}, {"port", "${port}"}, {"pack", pack.folder.string()},
                         {"source", pack.source_root}};
  std::vector<std::string> command;
  for (const std::string& part : workload.engine_command) command.push_back(expand(part, variables));
  if (command.empty()) {
    if (build.empty() || pack.server_binary.empty()) {
      throw bad_input("engine " + pack.name + ": no server to launch",
                      "give engine.command in the workload: the server's argv, with ${model} and ${port}");
    }
    command.push_back((build / pack.server_binary).string());
  }
  std::vector<std::string> argv;
  for (const std::string& part : pack.launch_argv) {
    if (part == "${server}") {
      argv.insert(argv.end(), command.begin(), command.end());
    } else {
      argv.push_back(expand(part, variables));
    }
  }
  return argv;
}

void set_flag(const Knob& knob, const std::string& value, std::vector<std::string>& flags) {
  flags = without_flag(knob, flags);
  if (knob.type == "bool") {
    if (value == "true") flags.push_back(knob.name);
    return;
  }
  flags.push_back(knob.name);
  flags.push_back(value);
}

void set_companions(const Pack& pack, const Knob& knob, const Facts& facts, std::vector<std::string>& flags) {
  for (const auto& [flag, expression] : knob.companions) {
    const std::optional<Value> value = evaluate(expression, facts);
    if (!value || text_of(*value) == "0") continue;
    const Knob* companion = pack.knob(flag);
    set_flag(companion != nullptr ? *companion : Knob{.name = flag}, text_of(*value), flags);
  }
}

const Knob& knob_of(const Pack& pack, const Change& change) {
  const Knob* knob = pack.knob(change.knob);
  if (knob != nullptr) return *knob;
  std::vector<std::string> known;
  for (const Knob& other : pack.knobs) known.push_back(other.name);
  throw bad_input("pack " + pack.name + ": no knob `" + change.knob + "`" + did_you_mean(change.knob, known),
                  "add the knob to " + (pack.folder / "pack.yaml").string());
}

}  // namespace

LaunchSpec plan_launch(const Pack& pack, const Workload& workload, const Candidate& candidate,
                       const std::filesystem::path& build, const std::filesystem::path& model, const Facts& facts) {
  LaunchSpec spec;
  spec.argv = base_argv(pack, workload, build, model);
  for (const auto& [name, value] : pack.launch_env) {
    spec.env[name] = expand(value, {{"pack", pack.folder.string()}, {"source", pack.source_root}});
  }
  for (const auto& [name, value] : workload.engine_env) spec.env[name] = value;
  spec.api = workload.traffic.api == Traffic::Api::Chat ? "chat" : "completions";

  std::vector<std::string> flags;
  for (const std::string& word : workload.engine_argv) flags.push_back(replace_all(word, "${model}", model.string()));
  for (const Change& change : candidate.changes) {
    if (change.kind == "flag") {
      const Knob& knob = knob_of(pack, change);
      set_flag(knob, change.value, flags);
      set_companions(pack, knob, facts, flags);
    } else if (change.kind == "env") {
      spec.env[knob_of(pack, change).name] = change.value;
    }
    if (pack.effective.count(change.knob) != 0) spec.expected[change.knob] = change.value;
  }
  spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
  return spec;
}

void check_own_address(const Pack& pack, const Workload& workload) {
  const auto holds_port = [](const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [](const std::string& w) { return w.find("${port}") != std::string::npos; });
  };
  if (!holds_port(pack.launch_argv) && !holds_port(workload.engine_command)) return;
  const std::string where = (workload.file.empty() ? "workload" : workload.file.string()) + ": engine.argv: ";
  const auto port = user_value(Knob{.name = "--port"}, workload.engine_argv);
  if (port && *port != "${port}") {
    throw bad_input(where + "--port " + *port + " overrides the port of the launch line",
                    "remove it: hyperloom picks a free port, and launch.sh takes the port as its argument");
  }
  const auto host = user_value(Knob{.name = "--host"}, workload.engine_argv);
  if (host && *host != "127.0.0.1" && *host != "0.0.0.0" && *host != "::") {
    throw bad_input(where + "--host " + *host + " leads away from 127.0.0.1, where the server is asked",
                    "remove it while tuning, and give it when you deploy");
  }
}

std::vector<std::string> quality_flags(const Pack& pack, const Workload& workload, const Candidate& candidate) {
  std::vector<std::string> flags;
  for (const std::string& name : pack.kl_flags) {
    const Knob* knob = pack.knob(name);
    if (knob == nullptr) continue;
    const Change* change = candidate.find(name);
    const std::optional<std::string> value = change != nullptr ? std::optional(change->value)
                                                               : user_value(*knob, workload.engine_argv);
    if (value) set_flag(*knob, *value, flags);
  }
  return flags;
}

std::vector<std::string> help_command(const Pack& pack, const Workload& workload, const std::filesystem::path& build) {
  std::vector<std::string> argv;
  for (const std::string& part : pack.help_argv) {
    if (part != "${server}") {
      argv.push_back(part);
      continue;
    }
    if (workload.engine_command.empty()) argv.push_back((build / pack.server_binary).string());
    for (const std::string& word : workload.engine_command) {
      if (starts_with(word, "--")) break;   // from here on the user's own settings: "python -m server" is what stays
      argv.push_back(word);
    }
  }
  return argv;
}

}  // namespace hyperloom
