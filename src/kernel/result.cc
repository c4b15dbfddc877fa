#include "kernel/result.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "kernel/event_tail.h"
#include "base/descriptor.h"

namespace hyperloom {
namespace {

constexpr size_t kLargestResult = 1 << 20;
constexpr double kWildestClaim = 3;  // |log ratio|: twentyfold, beyond any build variant
constexpr int kDeepest = 16;
constexpr size_t kLongestId = 100, kLongestWhy = 500;

BackendOutcome bad(const std::string& reason) {
  BackendOutcome outcome;
  outcome.status = "bad_output";
  outcome.reason = "result.json: " + reason;
  return outcome;
}

std::string string_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The rule that the claim breaks, or "" with `claim` filled.
std::string breach(const Json& json, const ResultRules& rules, const std::set<std::string>& values,
                   KernelClaim& claim) {
  if (!json.is_object()) return "candidate: must be an object";
  claim.id = printable(string_at(json, "id"), kLongestId);
  claim.kind = string_at(json, "kind");
  claim.value = string_at(json, "value");
  claim.why = printable(string_at(json, "why"), kLongestWhy);
  if (claim.id.empty() || claim.id != string_at(json, "id"))
    return "id: must be printable text of 1 to 100 bytes";
  if (claim.kind != "build")
    return "kind: must be `build`, not `" + printable(claim.kind, 40) + "`";
  if (json.contains("files") && json["files"] != Json::array())
    return "files: kind build carries none";
  if (!contains(rules.recipes, claim.value))
    return "value: `" + printable(claim.value, 60) + "` is not a recipe of the bundle";
  if (claim.value == rules.current_build) return "value: " + claim.value + " is the current build";
  if (contains(rules.failed_builds, claim.value))
    return "value: " + claim.value + " is known not to work here";
  if (values.count(claim.value)) return "value: " + claim.value + " was claimed already";
  if (const auto expected = json.find("expected_log"); expected != json.end()) {
    if (!expected->is_number() || !(std::fabs(expected->get<double>()) <= kWildestClaim))
      return "expected_log: must be a number within 3 of 0";
    claim.expected_log = expected->get<double>();
  }
  return "";
}

// Opened so that neither a link nor a pipe put in its place can lead or hold us.
BackendOutcome read_text(const fs::path& file, std::string& text) {
  const Descriptor result(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!result) return bad(errno == ENOENT ? "there is none" : std::strerror(errno));
  struct stat facts;
  if (fstat(result.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return bad("is not a plain file");
  if (facts.st_size > static_cast<off_t>(kLargestResult)) return bad("is larger than 1 MiB");
  text.resize(kLargestResult + 1);
  size_t size = 0;
  for (ssize_t count; size < text.size() &&
                      (count = read(result.get(), text.data() + size, text.size() - size)) > 0;)
    size += static_cast<size_t>(count);
  text.resize(size);
  if (size > kLargestResult) return bad("is larger than 1 MiB");
  return {};
}

}  // namespace

BackendOutcome parse_result(std::string_view text, const ResultRules& rules) {
  bool deep = false;  // copying and printing a Json recurse
  const auto watch_depth = [&deep](int depth, Json::parse_event_t, Json&) {
    return !(deep = deep || depth > kDeepest);
  };
  const Json json = Json::parse(text, watch_depth, false);
  if (deep) return bad("is nested too deep");
  if (!json.is_object()) return bad("is not a JSON object");
  const auto protocol = json.find("protocol");
  if (protocol == json.end() || *protocol != kBackendProtocol)
    return bad("protocol: must be " + std::to_string(kBackendProtocol));
  if (string_at(json, "nonce") != rules.nonce) return bad("nonce: not the one of this task");
  if (string_at(json, "task_id") != rules.task_id) return bad("task_id: not the one of this task");
  BackendOutcome outcome;
  outcome.status = string_at(json, "status");
  outcome.reason = printable(string_at(json, "reason"), kLongestWhy);
  if (!contains({"candidates", "no_candidate", "infra_error", "invalid_task"}, outcome.status))
    return bad("status: must be candidates, no_candidate, infra_error or invalid_task, not `" +
               printable(outcome.status, 40) + "`");
  const Json candidates = json.value("candidates", Json::array());
  if (!candidates.is_array()) return bad("candidates: must be a list");
  if (candidates.size() > static_cast<size_t>(rules.candidates))
    return bad("candidates: more than " + std::to_string(rules.candidates));
  if (outcome.status != "candidates")
    return candidates.empty() ? outcome : bad("status " + outcome.status + " with candidates");

  std::set<std::string> values, ids;
  for (const Json& candidate : candidates) {
    KernelClaim claim;
    std::string rule = breach(candidate, rules, values, claim);
    if (rule.empty() && !ids.insert(claim.id).second) rule = "id: used twice";
    if (!rule.empty()) {
      outcome.rejected.push_back((claim.id.empty() ? "?" : claim.id) + ": " + rule);
      continue;
    }
    values.insert(claim.value);
    outcome.claims.push_back(std::move(claim));
  }
  if (outcome.claims.empty()) {
    outcome.status = "bad_output";
    outcome.reason = "result.json: no candidate keeps the contract" +
                     (outcome.rejected.empty() ? std::string(": the list is empty")
                                               : ": " + outcome.rejected.front());
  }
  return outcome;
}

std::string tree_breach(const fs::path& out, const BackendLimits& limits) {
  uint64_t bytes = 0;
  int entries = 0;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(out, error)))
    return "out: is no longer the folder that was given";
  for (auto at = fs::recursive_directory_iterator(
           out, fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    struct stat facts;
    if (lstat(at->path().c_str(), &facts) != 0) continue;  // gone meanwhile
    const std::string name = printable(at->path().lexically_relative(out).string(), 80);
    if (++entries > limits.entries)
      return "out: more than " + std::to_string(limits.entries) + " files and folders";
    if (S_ISDIR(facts.st_mode)) continue;
    if (S_ISLNK(facts.st_mode)) return "out: " + name + " is a symbolic link";
    if (!S_ISREG(facts.st_mode)) return "out: " + name + " is not a plain file";
    if (facts.st_nlink > 1) return "out: " + name + " is a hard link";
    bytes += static_cast<uint64_t>(facts.st_blocks) * 512;
    if (bytes > limits.output_bytes || static_cast<uint64_t>(facts.st_size) > limits.output_bytes)
      return "out: larger than " + format_bytes(static_cast<double>(limits.output_bytes));
  }
  return "";
}

BackendOutcome read_result(const fs::path& out, const ResultRules& rules,
                           const BackendLimits& limits) {
  if (const std::string breach = tree_breach(out, limits); !breach.empty()) {
    BackendOutcome outcome;
    outcome.status = "bad_output";
    outcome.reason = breach;
    return outcome;
  }
  std::string text;
  if (BackendOutcome failed = read_text(out / "result.json", text); !failed.status.empty())
    return failed;
  return parse_result(text, rules);
}

}  // namespace hyperloom
