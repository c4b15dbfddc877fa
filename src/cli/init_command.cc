#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "candidate/source.h"
#include "cli/commands.h"
#include "engine/model_facts.h"
#include "os/machine.h"

namespace hyperloom {

int init_command(const InitOptions& options) {
  if (fs::exists(options.out)) throw bad_input(options.out.string() + " exists", "name another file with --out, or remove it");
  load_pack(options.engine);   // an unknown engine is refused here, with the known ones
  Workload workload;
  workload.model_path = options.model.empty() ? fetch_demo_model([](const std::string& l) { std::fprintf(stderr, "%s\n", l.c_str()); }, &stop_flags().any)
                                              : fs::absolute(options.model);
  ModelFacts model = read_gguf(workload.model_path);
  MachineFacts machine = probe_machine();
  workload.engine_pack = options.engine;
  if (!options.server.empty()) workload.engine_command = {options.server};
  workload.traffic.clients = 8;
  workload.traffic.prompt_tokens = {128, 0.2};
  workload.traffic.output_tokens = {64, 0};
  // Bigger models take longer to load and to answer: a leg must still be a small part of the budget.
  double gib = static_cast<double>(model.bytes) / (1024.0 * 1024 * 1024);
  workload.time_s = gib < 1 ? 25 * 60 : gib < 8 ? 90 * 60 : 4 * 3600;
  write_file(options.out, write_workload(workload));
  std::printf("machine  %s, %d cores, %s\n", machine.cpu_name.c_str(), machine.cores, format_bytes(static_cast<double>(machine.memory_bytes)).c_str());
  std::printf("model    %s, %s, %s in %s, context %d\n", model.name.c_str(), model.architecture.c_str(),
              format_bytes(static_cast<double>(model.bytes)).c_str(), model.weights_type.c_str(), model.context);
  if (static_cast<double>(model.bytes) * 1.2 > static_cast<double>(machine.memory_bytes))
    std::printf("warning  the model hardly fits into this machine's memory\n");
  std::printf("wrote    %s: set the traffic to yours, then `hyperloom run %s`\n", options.out.c_str(), options.out.c_str());
  return 0;
}

}  // namespace hyperloom
