// Which GPUs there are, as their vendor's own tool says: no driver library is linked.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "os/child.h"
#include "os/machine_parse.h"
#include "os/tool_json.h"

namespace hyperloom {
namespace {

constexpr double kToolLimitS = 20;  // nvidia-smi takes seconds when it must wake the driver
constexpr double kMibPerGib = 1024;
constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;

// Its output; nothing when the tool is not there, fails or hangs: then there is no GPU that we
// could use.
std::string ask(const std::vector<std::string>& argv) {
  try {
    const RunResult result = run_child({.argv = argv}, kToolLimitS);
    return result.status.ok() && !result.timed_out ? result.output : "";
  } catch (const Error&) {
    return "";
  }
}

std::string text_at(const Json& object, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_string() && !found->get<std::string>().empty()) {
      return found->get<std::string>();
    }
  }
  return "";
}

}  // namespace

Json parse_after_noise(std::string_view text) {
  constexpr int kMostWarnings = 20;  // "[WARN] ..." looks like a list
  size_t at = text.find_first_of("[{");
  for (int i = 0; i < kMostWarnings && at != std::string_view::npos; ++i) {
    Json json = Json::parse(text.substr(at), nullptr, false);
    if (!json.is_discarded()) return json;
    do {
      at = text.find('\n', at);
      if (at != std::string_view::npos) ++at;
    } while (at < text.size() && text[at] != '[' && text[at] != '{');
    if (at >= text.size()) break;
  }
  return nullptr;
}

std::vector<GpuFacts> parse_nvidia_smi(std::string_view text) {
  std::vector<GpuFacts> gpus;
  for (const std::string& line : split(text, '\n')) {
    const size_t comma = line.rfind(',');
    if (comma == std::string::npos) continue;  // "No devices were found"
    const std::string name = trim(line.substr(0, comma));
    const double mib = std::atof(line.c_str() + comma + 1);  // "[N/A]" where memory is shared: 0
    if (!name.empty()) gpus.push_back({"nvidia", name, mib / kMibPerGib});
  }
  return gpus;
}

std::vector<GpuFacts> parse_rocm_smi(std::string_view text) {
  std::vector<GpuFacts> gpus;
  const Json json = parse_after_noise(text);
  if (!json.is_object()) return gpus;
  for (const auto& [card, facts] : json.items()) {
    if (!starts_with(card, "card") || !facts.is_object()) continue;
    const std::string name =
        text_at(facts, {"Card Series", "Card series", "Card model", "Card Model", "GFX Version"});
    const std::string bytes = text_at(facts, {"VRAM Total Memory (B)"});
    gpus.push_back({"amd", name.empty() ? card : name, std::atof(bytes.c_str()) / kBytesPerGib});
  }
  return gpus;
}

std::vector<GpuFacts> parse_amd_smi(std::string_view text) {
  std::vector<GpuFacts> gpus;
  Json json = parse_after_noise(text);
  if (json.is_object() && json.contains("gpu_data"))
    json = Json(json["gpu_data"]);  // since ROCm 6.4
  if (!json.is_array()) return gpus;
  for (const Json& gpu : json) {
    if (!gpu.is_object() || !gpu.contains("asic") || !gpu["asic"].is_object()) continue;
    GpuFacts facts{"amd", text_at(gpu["asic"], {"market_name", "target_graphics_version"}), 0};
    const Json vram = gpu.value("vram", Json());
    const Json size = vram.is_object() ? vram.value("size", Json()) : Json();
    if (size.is_object() && size.contains("value") && size["value"].is_number()) {
      const bool gigabytes = text_at(size, {"unit"}) == "GB";
      facts.memory_gib = size["value"].get<double>() / (gigabytes ? 1 : kMibPerGib);
    }
    gpus.push_back(facts);
  }
  return gpus;
}

std::vector<GpuFacts> probe_gpus() {
  std::vector<GpuFacts> gpus = parse_nvidia_smi(
      ask({"nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"}));
  std::vector<GpuFacts> amd =
      parse_amd_smi(ask({"amd-smi", "static", "--asic", "--vram", "--json"}));
  if (amd.empty())
    amd = parse_rocm_smi(ask({"rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json"}));
  gpus.insert(gpus.end(), amd.begin(), amd.end());
  return gpus;
}

}  // namespace hyperloom
