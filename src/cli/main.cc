// The command line. CLI11 appears here only.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/printable.h"
#include "cli/arguments.h"
#include "cli/bench_parts.h"
#include "cli/commands.h"
#include "kernel/backend.h"
#include "session/real_roofs.h"

namespace hyperloom {

StopFlags& stop_flags() {
  static StopFlags flags;
  return flags;
}

namespace {

extern "C" void on_stop(int) {
  stop_flags().stop = true;
  stop_flags().any = true;
}
extern "C" void on_close(int) {
  stop_flags().close = true;
  stop_flags().any = true;
}

void install_handlers() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A closed terminal is a request to stop, unless `nohup` said otherwise.
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = on_close;
  sigaction(SIGUSR1, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int run(int argc, char** argv) {
  CLI::App app{"hyperloom makes a model's inference serving faster, and proves it.\n\nStart with `hyperloom demo`, or `hyperloom init` and `hyperloom run workload.yaml`."};
  app.require_subcommand(1);
  app.set_version_flag("--version", HYPERLOOM_VERSION);
  app.set_help_all_flag("--help-all", "help of every command");
  std::function<int()> chosen;
  auto command = [&](CLI::App& parent, const char* name, const char* help, std::function<int()> body) {
    CLI::App* sub = parent.add_subcommand(name, help);
    sub->callback([&chosen, body] { chosen = body; });
    return sub;
  };

  DemoOptions demo;
  auto* c = command(app, "demo", "one whole session on the embedded default: llama.cpp and SmolLM2-135M", [&] { return demo_command(demo); });
  c->add_option("--minutes", demo.minutes, "budget, from the first build that answers")->capture_default_str();
  c->add_option("--model", demo.model, "another GGUF file");
  c->add_option("--session", demo.session_dir, "folder of the new session");

  std::string workload, session, key;
  std::filesystem::path dir;
  c = command(app, "run", "one session on a workload file", [&] { return run_command(workload, dir); });
  c->add_option("workload", workload, "workload.yaml; `hyperloom init` writes one")->required();
  c->add_option("--session", dir, "folder of the new session");

  auto with_session = [&](CLI::App* sub) { sub->add_option("session", session, "path, id or start of an id; default: the latest"); };
  with_session(command(app, "resume", "go on with a stopped or killed session", [&] { return resume_command(session); }));
  bool json = false, close = false;
  c = command(app, "status", "where a session stands", [&] { return status_command(session, json); });
  with_session(c);
  c->add_flag("--json", json, "for machines");
  c = command(app, "stop", "end a running session so that it can be resumed", [&] { return stop_command(session, close); });
  with_session(c);
  c->add_flag("--close", close, "close it now: fresh pairs, report, recipe");
  with_session(command(app, "report", "write the report of a session anew", [&] { return report_command(session); }));

  InitOptions init;
  c = command(app, "init", "look at machine and model and write a commented workload file", [&] { return init_command(init); });
  c->add_option("--model", init.model, "GGUF file; default: the demo's");
  c->add_option("--out", init.out, "file to write")->capture_default_str();
  c->add_option("--engine", init.engine, "engine pack")->capture_default_str();
  c->add_option("--server", init.server, "your own server binary, instead of building one");

  CLI::App* recipes = app.add_subcommand("recipes", "what finished sessions taught");
  recipes->require_subcommand(1);
  command(*recipes, "list", "one line a recipe", [&] { return recipes_list_command(); });
  command(*recipes, "show", "one recipe whole", [&] { return recipes_show_command(key); })->add_option("key", key, "start of its key")->required();
  command(*recipes, "forget", "remove a recipe", [&] { return recipes_forget_command(key); })->add_option("key", key, "start of its key")->required();
  command(*recipes, "export", "all recipes as JSON", [&] { return recipes_export_command(); });

  BenchOptions bench;
  c = command(app, "bench", "measure a server under load: a running one (--url) or one leg of a workload", [&] { return bench_command(bench); });
  // Second names are those of `vllm bench serve`, where they mean the same.
  c->add_option("--url,--base-url", bench.url, "base URL of a running OpenAI-compatible server")->group("Server");
  c->add_option("--workload", bench.workload, "launch the engine of this workload file and measure one leg")->group("Server");
  c->add_option("--model", bench.model, "model name to send; default: the first that the server lists")->group("Server");
  c->add_option("--api", bench.api, "chat or completions")->capture_default_str()->group("Server");
  c->add_flag("!--no-stream", bench.stream, "ask for whole answers: no TTFT, TPOT and ITL then")->group("Server");
  c->add_option("--api-key-env", bench.api_key_env, "environment variable that holds the bearer token")->group("Server");
  c->add_option("--header", bench.headers, "\"Name: value\" sent with every request")->group("Server");
  c->add_option("--cacert", bench.ca_file, "certificates (PEM) to trust instead of the system's")->group("Server");
  c->add_flag("--insecure", bench.insecure, "take any certificate")->group("Server");
  CLI::Option* clients = c->add_option("--clients,--max-concurrency", bench.clients, "closed loop: requests in flight; with --rate a bound on them")
                             ->capture_default_str()->group("Load");
  CLI::Option* requests = c->add_option("--requests,--num-prompts", bench.requests, "measured requests; of a trace: all, unless said")
                              ->capture_default_str()->group("Load");
  c->callback([&, clients, requests] { bench.clients_given = clients->count() > 0; bench.requests_given = requests->count() > 0; chosen = [&] { return bench_command(bench); }; });
  c->add_option("--rate,--request-rate", bench.rate_rps, "open loop instead: requests a second, whatever the server does")->group("Load");
  c->add_option("--arrival", bench.arrival, "of the open loop: poisson or constant")->capture_default_str()->group("Load");
  c->add_option("--burstiness", bench.burstiness, "gamma arrivals: below 1 in bursts, 1 is Poisson, above 1 more even")->capture_default_str()->group("Load");
  c->add_option("--ramp-up-strategy", bench.ramp_up, "open loop with a rising rate: linear or exponential")->excludes("--rate")->group("Load");
  c->add_option("--ramp-up-start-rps", bench.ramp_from_rps, "the ramp's first rate")->group("Load");
  c->add_option("--ramp-up-end-rps", bench.ramp_to_rps, "the ramp's last rate")->group("Load");
  c->add_option("--trace", bench.trace, "replay recorded traffic: times, lengths and shared prefixes of a Mooncake (JSON lines) or Azure (CSV) trace")
      ->excludes("--rate")->excludes("--ramp-up-strategy")->group("Load");
  c->add_option("--speed", bench.speed, "of the replay: 2 = twice as fast")->capture_default_str()->group("Load");
  c->add_option_function<std::vector<std::string>>("--sweep", [&](const std::vector<std::string>& what) {
     bench.sweep = what.empty() || what[0].empty() ? "clients" : what[0];
   }, "steps of load up to saturation, and the knee: clients (default), rate, or their steps as clients:1,8,64")
      ->expected(0, 1)->type_name("WHAT")->excludes("--clients")->excludes("--rate")->excludes("--ramp-up-strategy")->excludes("--trace")->group("Load");
  c->add_option_function<std::vector<std::string>>("--slo", [&](const std::vector<std::string>& what) {
     bench.slo = what.empty() || what[0].empty() ? "given" : what[0];
   }, "highest request rate that meets these limits, as ttft:p99<500ms,tpot:p90<40ms; without them, those of --limit or the workload")
      ->expected(0, 1)->type_name("LIMITS")->excludes("--clients")->excludes("--rate")->excludes("--sweep")->excludes("--ramp-up-strategy")->excludes("--trace")
      ->group("Load");
  c->add_option("--warmup,--num-warmups", bench.warmup, "requests before the window opens; default: half the clients")->group("Load");
  c->add_option("--duration", bench.duration_s, "close the window after so many seconds at the latest")->group("Load");
  c->add_option("--seed", bench.seed, "of the request trace: the same seed sends the same bytes")->capture_default_str()->group("Load");
  c->add_option("--prompt-tokens,--random-input-len", bench.prompt_tokens, "mean prompt length")->capture_default_str()->excludes("--trace")->group("Requests");
  c->add_option("--output-tokens,--random-output-len", bench.output_tokens, "mean answer length")->capture_default_str()->excludes("--trace")->group("Requests");
  c->add_option("--dataset,--dataset-path", bench.dataset, "prompts: plain lines, JSON lines or ShareGPT JSON")->excludes("--trace")->group("Requests");
  c->add_option("--turns", bench.turns, "conversations of so many turns, each with the earlier ones and the server's own answers")->group("Requests");
  c->add_option("--think-time", bench.think_s, "seconds from an answer to the next turn")->group("Requests");
  c->add_flag("--ignore-eos,!--stop-at-eos", bench.ignore_eos, "answers have their full length (default), or may end early")->group("Requests");
  c->add_option("--limit", bench.limits, "latency limit for goodput, as ttft:p95:500 (ms)")->group("Results");
  c->add_option_function<std::vector<std::string>>("--goodput", [&](const std::vector<std::string>& pairs) {
     for (const std::string& pair : pairs) bench.limits.push_back(goodput_limit(pair));
   }, "the same for single requests, as ttft:500 tpot:40 e2el:3000 (ms)")->group("Results");
  c->add_flag("--json", bench.json, "print the result as JSON")->group("Results");
  c->add_option("--markdown", bench.markdown, "file for the result as a Markdown table")->group("Results");
  c->add_option("--save-result,--result-filename", bench.save_result, "JSON that readers of `vllm bench serve --save-result` accept")->group("Results");
  c->add_option("--save-requests", bench.save_requests, "JSON lines, one a request")->group("Results");

  c->footer(bench_footer());

  CompareOptions compare;
  c = command(app, "compare", "is B faster than A? two launch commands with {port}, or two URLs (then it only estimates)", [&] { return compare_command(compare); });
  c->add_option("a", compare.a, "launch command or URL of A")->required();
  c->add_option("b", compare.b, "launch command or URL of B")->required();
  c->add_option("--clients", compare.clients)->capture_default_str();
  c->add_option("--requests", compare.requests, "measured requests a leg")->capture_default_str();
  c->add_option("--prompt-tokens", compare.prompt_tokens)->capture_default_str();
  c->add_option("--output-tokens", compare.output_tokens)->capture_default_str();
  c->add_option("--max-pairs", compare.max_pairs, "3 to 16")->capture_default_str();
  c->add_option("--alpha", compare.alpha, "chance to call B faster when it is not")->capture_default_str();
  c->add_option("--least-gain", compare.least_gain, "smallest gain worth having")->capture_default_str();
  c->add_option("--api", compare.api, "chat or completions")->capture_default_str();
  c->add_option("--seed", compare.seed)->capture_default_str();
  c->add_flag("--json", compare.json, "print the result as JSON");

  DoctorOptions doctor;
  c = command(app, "doctor", "what this machine offers and lacks; --noise measures it", [&] { return doctor_command(doctor); });
  c->add_flag("--noise", doctor.noise, "A/A boots: noise, false-keep rate, pairs that 1, 2, 3 and 5 % need");
  c->add_option("--pairs", doctor.pairs, "A/A pairs for --noise")->capture_default_str();
  c->add_flag("--json", doctor.json, "with --noise: everything as JSON");
  c->add_option("--save-legs", doctor.save_legs, "JSON lines, one a leg of --noise");
  c->add_option("--workload", doctor.workload, "workload for --noise; default: the demo's");

  // What the session starts as children of its own: the built-in kernel backend (docs/kernel-contract.md), the roofs.
  const std::string own = argc >= 2 ? argv[1] : "";
  if (own == "forge") {
    if (argc == 3 && std::string(argv[2]) == "--capabilities") return std::printf("%s\n", forge_capabilities().c_str()), 0;
    return argc == 4 ? forge_main(argv[2], argv[3]) : 2;
  }
  if (own == "roofs") return argc == 4 ? roofs_main(argv[2], argv[3]) : 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ErrorKind::BadInput);
  }
  install_handlers();
  return chosen();
}

}  // namespace
}  // namespace hyperloom

// Errors quote servers and logs: no byte of theirs may steer the terminal.
int main(int argc, char** argv) {
  try {
    return hyperloom::run(argc, argv);
  } catch (const hyperloom::Error& error) {
    std::fprintf(stderr, "hyperloom: %s\n", hyperloom::printable(error.what()).c_str());
    if (!error.mend().empty()) std::fprintf(stderr, "  mend: %s\n", hyperloom::printable(error.mend()).c_str());
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hyperloom: internal error: %s\n", hyperloom::printable(error.what()).c_str());
    return static_cast<int>(hyperloom::ErrorKind::Internal);
  }
}
