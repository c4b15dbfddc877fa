// The commands, one file each. Each returns the program's exit code (docs/formats.md) or throws Error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/real_world.h"
#include "workload/workload.h"

namespace hyperloom {

StopFlags& stop_flags();               // set by the signal handlers that main installs

struct DemoOptions { double minutes = 25; std::filesystem::path model, session_dir; };
int demo_command(const DemoOptions& options);

int run_command(const std::filesystem::path& workload, const std::filesystem::path& session_dir);
int resume_command(const std::string& session);
int status_command(const std::string& session, bool json);
int stop_command(const std::string& session, bool close);
int report_command(const std::string& session);

struct InitOptions { std::filesystem::path model, out = "workload.yaml"; std::string engine = "llama.cpp", server; };
int init_command(const InitOptions& options);

int recipes_list_command();
int recipes_show_command(const std::string& key);
int recipes_forget_command(const std::string& key);
int recipes_export_command();

struct BenchOptions {
  std::string url, model = "default", api = "chat";
  std::filesystem::path workload, save_result, save_requests;      // workload: launch the engine ourselves, one leg
  int clients = 8, requests = 64, warmup = -1, prompt_tokens = 128, output_tokens = 64;
  double rate_rps = 0, duration_s = 0;
  bool clients_given = false;          // with a rate: a bound on requests in flight
  bool requests_given = false;         // else a trace is replayed whole
  std::string arrival = "poisson", ramp_up, trace;
  double burstiness = 1, speed = 1, turns = 0, think_s = 0, ramp_from_rps = 0, ramp_to_rps = 0;
  std::string dataset;
  uint64_t seed = 1;
  bool ignore_eos = true, json = false;
  bool stream = true, insecure = false;
  std::string api_key_env;             // the variable that holds the bearer token
  std::filesystem::path ca_file, markdown;
  std::vector<std::string> headers;
  std::vector<std::string> limits;     // "ttft:p95:500" in ms
  std::string slo;                     // "ttft:p99<500ms,tpot:p90<40ms", or "given": those of --limit or the workload; empty = no search
  std::string sweep;                   // "clients", "rate" or their steps; empty = no sweep
};
int bench_command(const BenchOptions& options);

struct CompareOptions {
  std::string a, b;                    // launch commands with {port}, or URLs (then it only estimates)
  int clients = 8, requests = 32, prompt_tokens = 128, output_tokens = 64, max_pairs = 10;
  double alpha = 0.05, least_gain = 0.005;
  std::string api = "chat";
  uint64_t seed = 1;
  bool json = false;
};
int compare_command(const CompareOptions& options);

struct DoctorOptions { bool noise = false, json = false; int pairs = 8; std::filesystem::path workload, save_legs; };
int doctor_command(const DoctorOptions& options);

// Runs or continues the session in `session_dir`, prints progress and the result, writes the report. Exit code.
int run_session(const std::filesystem::path& session_dir, const Workload* fresh);

// Where sessions live and how people name them: a path, an id, a prefix, or "" for the latest.
std::filesystem::path new_session_dir();
std::filesystem::path find_session(const std::string& name);
struct SessionOwner { pid_t pid = 0; };
SessionOwner session_owner(const std::filesystem::path& session_dir);   // the live process that holds the journal; 0 = none

}  // namespace hyperloom
