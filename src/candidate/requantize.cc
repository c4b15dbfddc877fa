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
  std::error_code unknown;
  result.bytes = fs::file_size(file, unknown);
  return result;
}

RequantizeResult failed(const std::string& error, double seconds = 0) {
  RequantizeResult result;
  result.error = error;
  result.seconds = seconds;
  return result;
}

RequantizeResult no_room(const std::string& error, double seconds = 0) {
  RequantizeResult result = failed(error + "; mend the cache's disk, or set HYPERLOOM_CACHE to another folder", seconds);
  result.out_of_time = true;
  return result;
}

// A crash or a full disk may have left a short file.
bool whole(const fs::path& file) {
  std::error_code problem;
  if (!fs::exists(file, problem)) return false;
  try {
    read_gguf(file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

RequantizeResult requantize(const Pack& pack, const fs::path& build, const fs::path& model, const std::string& model_sha256,
                            const std::string& value, double limit_s, const volatile bool* stop_flag) {
  if (!pack.requantize) return failed("pack " + pack.name + " has no tool that changes the weights' precision");
  if (!plain_word(value)) return failed("precision `" + value + "` is no plain word");
  const fs::path folder = cache_root() / "models" / "requantized";
  const fs::path target = folder / (model_sha256.substr(0, kHashDigits) + "-" + value + ".gguf");
  if (whole(target)) return made(target, 0);
  const CacheLock lock(target.string() + ".lock", stop_flag);
  if (!lock.held()) return failed("stopped while waiting for another process that makes the same weights");
  if (whole(target)) return made(target, 0);
  std::error_code unknown;
  if (fs::remove(target, unknown); unknown)
    return no_room(target.string() + " is damaged and cannot be removed: " + unknown.message());
  remove_left_over(target);

  const uint64_t needed = static_cast<uint64_t>(static_cast<double>(read_gguf(model).parameters) * 2 * kSpareDisk);
  if (const fs::space_info space = fs::space(folder, unknown); !unknown && space.available < needed) {
    return no_room("not enough disk in " + folder.string() + ": " + format_bytes(static_cast<double>(space.available)) +
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
    const bool full = disk_full(folder, run.output);   // before the room that the part took is free again
    fs::remove(partial, unknown);
    if (full) return no_room(error.what(), run.seconds);
    RequantizeResult result = failed(error.what(), run.seconds);
    result.out_of_time = run.timed_out;
    return result;
  }
  try {
    move_into_place(partial, target);
  } catch (const Error& error) {
    fs::remove(partial, unknown);
    return no_room(error.what(), run.seconds);
  }
  return made(target, run.seconds);
}

}  // namespace hyperloom
