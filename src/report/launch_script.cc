#include <algorithm>
#include <set>

#include "base/text.h"
#include "report/findings.h"
#include "report/words.h"

namespace hyperloom {
namespace {

// Quoted for the shell, with ${port} as the script's own variable.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPort = "${port}";
  if (word.find(kPort) == std::string::npos) return shell_quote(word);
  std::string out;
  size_t at = 0;
  while (at <= word.size()) {
    const size_t next = std::min(word.find(kPort, at), word.size());
    if (next > at) out += shell_quote(std::string_view(word).substr(at, next - at));
    if (next == word.size()) break;
    out += "\"$PORT\"";
    at = next + kPort.size();
  }
  return out;
}

bool is_shell_name(const std::string& name) {
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), in_name);
}

// A `#` line that stays one line whatever the text holds.
std::string comment(const std::string& text) {
  return "# " + join(split_words(printable(text)), " ") + "\n";
}

std::set<std::string> model_files(const SessionState& state) {
  std::set<std::string> files;
  if (!state.workload.model_path.empty()) files.insert(state.workload.model_path.string());
  for (const MadeEvent& made : state.made) {
    if (!made.model_path.empty()) files.insert(made.model_path);
  }
  return files;
}

}  // namespace

std::string render_launch_script(const ReportInputs& inputs) {
  const LaunchSpec& launch = inputs.best_launch;
  const Findings findings = gather(inputs);
  std::string out = "#!/bin/sh\n";
  out += comment("Written by hyperloom, session " + inputs.state.session + ". " +
                 findings.headline + ".");
  if (!launch.argv.empty()) out += comment("Starts " + findings.launches);
  out += "# Usage: sh launch.sh [PORT]     (8080 when left out)\nset -eu\n\n";
  if (launch.argv.empty()) {
    out +=
        "echo 'launch.sh: this session found no configuration that answers; see report.html' "
        ">&2\nexit 3\n";
    return out;
  }
  out +=
      "PORT=\"${1:-8080}\"\n"
      "case \"$PORT\" in\n"
      "  ''|*[!0-9]*) echo \"launch.sh: PORT must be a number, not '$PORT'\" >&2; exit 2 ;;\n"
      "esac\n";
  out += "server=" + shell_word(launch.argv[0]) + "\n";
  out +=
      "if ! command -v \"$server\" >/dev/null 2>&1; then\n"
      "  echo \"launch.sh: the server '$server' is missing or cannot be run here; build it again\" "
      ">&2\n"
      "  echo \"(the report's section 'Reproduction' says how), or put its new path into this "
      "script\" >&2\n"
      "  exit 2\nfi\n";
  const std::set<std::string> models = model_files(inputs.state);
  for (const std::string& word : launch.argv) {
    if (!models.count(word)) continue;
    out += "model=" + shell_quote(word) + "\n";
    out +=
        "if ! [ -r \"$model\" ]; then\n"
        "  echo \"launch.sh: the model '$model' is missing or unreadable; bring it back, or put "
        "its new\" >&2\n"
        "  echo \"path into this script (a requantized model is made again by running the session "
        "again)\" >&2\n"
        "  exit 2\nfi\n";
  }
  std::string by_env;  // names that no shell variable can have go through env(1)
  for (const auto& [name, value] : launch.env) {
    if (is_shell_name(name)) {
      out += "export " + name + "=" + shell_word(value) + "\n";
    } else {
      by_env += " " + shell_quote(name + "=" + value);
    }
  }
  out += by_env.empty() ? "exec \"$server\"" : "exec env" + by_env + " \"$server\"";
  for (size_t i = 1; i < launch.argv.size(); ++i) {
    out += launch.argv[i].starts_with("-") ? " \\\n  " : " ";
    out += shell_word(launch.argv[i]);
  }
  return out + "\n";
}

}  // namespace hyperloom
