// A backend's result.json: whatever the bytes, one outcome of the closed set, printable, and safe
// to journal.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kernel/event_tail.h"
#include "kernel/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hyperloom;
  ResultRules rules;
  rules.task_id = "K1";
  rules.nonce = "n1";
  rules.recipes = {"fast", "other"};
  rules.failed_builds = {"other"};
  const BackendOutcome got =
      parse_result(std::string_view(reinterpret_cast<const char*>(data), size), rules);
  if (got.status.empty() || (got.status == "candidates") == got.claims.empty()) std::abort();
  const auto journalled = [](const std::string& text) {
    (void)Json(text).dump();
  };  // throws on broken UTF-8
  journalled(got.reason);
  for (const std::string& rejected : got.rejected) journalled(rejected);
  for (const KernelClaim& claim : got.claims) {
    if (claim.value != "fast" || claim.kind != "build") std::abort();
    journalled(claim.id);
    journalled(claim.why);
  }
  return 0;
}
