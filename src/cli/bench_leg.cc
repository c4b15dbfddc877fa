#include "cli/bench_parts.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/enabled_engine.h"
#include "cli/sample_size.h"
#include "load/result_files.h"

namespace hyperloom {
namespace {

std::string command_text(const LaunchSpec& launch) {
  std::vector<std::string> words;
  for (const auto& [name, value] : launch.env) words.push_back(name + "=" + shell_quote(value));
  for (const std::string& word : launch.argv) words.push_back(shell_quote(replace_all(word, "${port}", "PORT")));
  return join(words, " ");
}

void print_leg(const EnabledEngine& engine, const LegResult& leg) {
  const Objective& objective = engine.state.workload.objective;
  const Enabled& enabled = *engine.state.enabled;
  std::printf("value       %.2f %s (%s)\n", leg.value, objective_unit(objective).c_str(), objective.maximize.c_str());
  std::printf("launch      %s\n", printable(command_text(engine.launch)).c_str());
  if (enabled.climbed)
    for (const std::string& rung : enabled.rungs) std::printf("ladder      %s\n", printable(rung).c_str());
  std::printf("boot        %.1f s, the whole leg %s, peak memory %s\n", leg.boot_s, format_duration(leg.cost_s).c_str(),
              format_bytes(static_cast<double>(leg.peak_rss_bytes)).c_str());
  const Neighbours& n = leg.neighbours;
  std::printf("neighbours  %.2f cores used by others (peak %.2f), steal %.2f, swap %.0f MiB; ours %.2f\n", n.foreign_cpu, n.foreign_cpu_peak,
              n.steal, n.swap_mib, n.own_cpu);
  std::printf("            %s\n", printable(recorded_text(n)).c_str());
  std::vector<std::string> settings;
  for (const auto& [knob, value] : leg.effective) settings.push_back(knob + " " + value);
  std::printf("read back   %s\n", settings.empty() ? "nothing: this engine does not tell" : printable(join(settings, ", ")).c_str());
  std::printf("\n%s", printable(terminal_table(leg.load)).c_str());
  if (leg.void_reasons.empty()) return;
  std::printf("\nThis leg is no evidence; a session would repeat it:\n");
  for (const std::string& reason : leg.void_reasons) std::printf("  void: %s\n", printable(reason).c_str());
}

}  // namespace

void check_writable(const fs::path& file, const std::string& flag) {
  if (file.empty()) return;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code problem;
  if (!fs::is_directory(folder, problem)) throw bad_input(flag + " " + file.string() + ": no folder " + folder.string(), "make it first");
  if (fs::is_directory(file, problem)) throw bad_input(flag + " " + file.string() + " is a folder", "name a file in it");
}

int bench_leg(const BenchOptions& options) {
  if (!options.save_result.empty())
    throw bad_input("--save-result writes the load client's form, which needs --url", "use --json or --save-requests with --workload");
  check_writable(options.save_requests, "--save-requests");
  const Workload workload = checked_workload(options.workload);
  const TempDir folder("hyperloom-bench");
  LoadLine line;
  const EnabledEngine engine = enable_engine(workload, folder.path(), line);
  LegOrder order = engine.leg_order(options.seed);
  line.say("leg of " + std::to_string(order.measured_requests) + " requests");
  LegHooks hooks;
  hooks.stop_flag = &stop_flags().any;
  hooks.on_progress = [&](const LoadProgress& p) { line.update(p); };
  LegOutcome outcome = run_leg(engine.pack, order, folder.path() / "leg.log", hooks);
  line.say("");
  if (const auto* failure = std::get_if<Failure>(&outcome))
    throw Error(ErrorKind::NotEnabled, "the leg failed: " + failure->text(), failure->first_move);
  LegResult& leg = std::get<LegResult>(outcome);
  if (leg.load.window_s <= 0 && stop_flags().any) throw Error(ErrorKind::Interrupted, "stopped before anything was measured");
  for (std::string& warning : sample_size_warnings(leg.load, workload.objective.limits))
    if (!workload.objective.limits.empty()) leg.load.warnings.push_back(std::move(warning));
  if (!options.save_requests.empty()) write_file(options.save_requests, leg.records_jsonl);
  if (options.json) {
    Json json = leg;
    json["schema"] = 1;
    json["unit"] = objective_unit(workload.objective);
    json["launch"] = Json{{"argv", engine.launch.argv}, {"env", engine.launch.env}};
    json["build"] = engine.state.enabled->build;
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    print_leg(engine, leg);
  }
  return stop_flags().any ? static_cast<int>(ErrorKind::Interrupted) : 0;
}

}  // namespace hyperloom
