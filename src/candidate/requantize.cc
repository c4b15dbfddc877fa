#include "candidate/requantize.h"

#include <unistd.h>

#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "candidate/cache_lock.h"
#include "engine/model_facts.h"
#include "os/child.h"

namespace hyperloom {
namespace {

constexpr size_t kHashDigits = 16;
constexpr double kSpareDisk = 1.2;   // the result may be that much larger than 16 bits a weight would suggest

std::string last_words(const std::string& output) {
  std::string last;
  for (const std::string& line : clean_log_lines(output, 300)) {
    if (!trim(line).empty()) last = trim(line);
  }
  return last;
}

bool plain_word(const std::string& value) {
  return !value.empty() && value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

RequantizeResult made(const fs::path& file, double seconds) {
  RequantizeResult result;
  result.ok = true;
  result.model = file;
  result.seconds = seconds;
  result.bytes = fs::file_size(file);
  return result;
}

RequantizeResult failed(const std::string& error, double seconds = 0) {
  RequantizeResult result;
  result.error = error;
  result.seconds = seconds;
  return result;
}

}  // namespace

RequantizeResult requantize(const Pack& pack, const fs::path& build, const fs::path& model, const std::string& model_sha256,
                            const std::string& value, double limit_s, const volatile bool* stop_flag) {
  if (!pack.requantize) return failed("pack " + pack.name + " has no tool that changes the weights' precision");
  if (!plain_word(value)) return failed("precision `" + value + "` is no plain word");
  const fs::path folder = cache_root() / "models" / "requantized";
  const fs::path target = folder / (model_sha256.substr(0, kHashDigits) + "-" + value + ".gguf");
  if (fs::exists(target)) return made(target, 0);
  const CacheLock lock(target.string() + ".lock", stop_flag);
  if (!lock.held()) return failed("stopped while waiting for another process that makes the same weights");
  if (fs::exists(target)) return made(target, 0);
  remove_left_over(target);

  std::error_code unknown;
  const uint64_t needed = static_cast<uint64_t>(static_cast<double>(read_gguf(model).parameters) * 2 * kSpareDisk);
  if (const fs::space_info space = fs::space(folder, unknown); !unknown && space.available < needed) {
    return failed("not enough disk in " + folder.string() + ": " + format_bytes(static_cast<double>(space.available)) +
                  " free, up to " + format_bytes(static_cast<double>(needed)) + " needed");
  }
  const fs::path partial = target.string() + ".partial." + std::to_string(::getpid());
  const Variables variables = {{"tools", build.string()}, {"model", model.string()}, {"out", partial.string()}, {"value", value},
                               {"cores", std::to_string(std::max(1u, std::thread::hardware_concurrency()))}};
  ChildSpec spec;
  for (const std::string& argument : pack.requantize->argv) spec.argv.push_back(expand(argument, variables));
  RunResult run;
  try {
    run = run_child(std::move(spec), limit_s, stop_flag);
    if (run.timed_out) throw bad_input("making " + value + " weights was stopped after " + format_duration(run.seconds));
    if (!run.status.ok()) throw bad_input("making " + value + " weights: " + run.status.text() + ": " + last_words(run.output));
    read_gguf(partial);   // a full disk leaves a short file and exit code 0
  } catch (const Error& error) {
    fs::remove(partial, unknown);
    RequantizeResult result = failed(error.what(), run.seconds);
    result.out_of_time = run.timed_out;
    return result;
  }
  fs::rename(partial, target);
  return made(target, run.seconds);
}

}  // namespace hyperloom
