// Divergence from stock by the engine's own tool, as the pack describes it (engine/pack.h, kl_base and kl_compare).
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <regex>

#include "base/error.h"
#include "base/expand.h"
#include "base/files.h"
#include "base/text.h"
#include "measure/quality.h"
#include "os/child.h"

namespace hyperloom {
namespace {

constexpr size_t kLastLines = 4;

// ${flags} as a whole element becomes the list; elsewhere it is refused as an unknown name.
std::vector<std::string> expand_argv(const std::vector<std::string>& argv, const KlOrder& order,
                                     const std::filesystem::path& base) {
  const Variables variables = {{"tools", order.tools.string()},
                               {"model", order.model.string()},
                               {"text", order.text.string()},
                               {"base", base.string()},
                               {"tokens", std::to_string(order.tokens)}};
  std::vector<std::string> result;
  for (const std::string& element : argv) {
    if (element == "${flags}")
      result.insert(result.end(), order.flags.begin(), order.flags.end());
    else
      result.push_back(expand(element, variables));
  }
  return result;
}

std::string last_lines(const std::string& output) {
  std::vector<std::string> lines;
  for (const std::string& line : clean_log_lines(output, 300))
    if (!trim(line).empty()) lines.push_back(trim(line));
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  return join(lines, " / ");
}

// The last match in the output: tools print running values first.
std::optional<double> read_value(const std::vector<std::string>& lines, const std::string& pattern) {
  const std::regex regex(pattern);
  std::optional<double> value;
  std::smatch match;
  for (const std::string& line : lines) {
    if (!std::regex_search(line, match, regex) || match.size() < 2) continue;
    try {
      value = std::stod(match[1].str());
    } catch (const std::exception&) {   // matched, but is no number: as good as not there
      value.reset();
    }
  }
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// Fills the fields that `read` names; the error names the first that the output lacks.
std::string read_fields(const ToolCommand& command, const std::string& output, KlResult& result) {
  const std::vector<std::string> lines = clean_log_lines(output, 400);
  const std::map<std::string, std::pair<double*, double>> fields = {   // where to, and times what (top1: percent)
      {"mean_kl", {&result.mean_kl, 1}},     {"mean_kl_se", {&result.mean_kl_se, 1}},
      {"ppl_ratio", {&result.ppl_ratio, 1}}, {"ppl_ratio_se", {&result.ppl_ratio_se, 1}},
      {"top1", {&result.top1, 0.01}}, {"top1_se", {&result.top1_se, 0.01}}};
  for (const char* needed : {"mean_kl", "ppl_ratio", "top1"})
    if (!command.read.count(needed)) return fmt::format("the pack's kl_compare.read lacks `{}`", needed);
  for (const auto& [name, pattern] : command.read) {
    const auto field = fields.find(name);
    if (field == fields.end()) continue;   // a tool may be read for more than is judged
    const std::optional<double> value = read_value(lines, pattern);
    if (!value) return fmt::format("the tool's output shows no number for `{}` ({}): {}", name, pattern, last_lines(output));
    *field->second.first = *value * field->second.second;
  }
  return "";
}

struct ToolRun {
  std::string error, output;
  bool no_evidence = false;   // the error says nothing of the candidate
  double seconds = 0;
};

ToolRun run_tool(const ToolCommand& command, const KlOrder& order, const std::filesystem::path& base,
                 const volatile bool* stop_flag) {
  ChildSpec spec;
  spec.argv = expand_argv(command.argv, order, base);
  spec.env = order.env;
  ToolRun run;
  RunResult ended;
  try {
    ended = run_child(spec, order.limit_s, stop_flag);
  } catch (const Error& error) {
    run.error = error.what();
    run.no_evidence = true;
    return run;
  }
  run.output = std::move(ended.output);
  run.seconds = ended.seconds;
  const std::string tool = std::filesystem::path(spec.argv[0]).filename().string();
  if (stop_flag && *stop_flag)
    run.error = "stopped";
  else if (ended.timed_out)
    run.error = fmt::format("{} took longer than {:.0f} s on {} tokens", tool, order.limit_s, order.tokens);
  else if (!ended.status.ok())
    run.error = fmt::format("{} ended with {}: {}", tool, ended.status.text(), last_lines(run.output));
  if (!run.error.empty())
    run.no_evidence = ended.timed_out || (stop_flag && *stop_flag) || disk_full(base.parent_path(), run.output);
  return run;
}

KlResult failed(const std::string& error, double seconds = 0) {
  KlResult result;
  result.error = error;
  result.seconds = seconds;
  return result;
}

KlResult no_evidence(const std::string& error, double seconds = 0) {
  KlResult result = failed(error, seconds);
  result.no_evidence = true;
  return result;
}

}  // namespace

KlResult make_kl_base(const Pack& pack, const KlOrder& order, const volatile bool* stop_flag) {
  if (!pack.kl_base) return no_evidence("the pack " + pack.name + " has no quality tool (kl_base)");
  // Under another name until it is whole: half a base from a killed run must not be taken for one.
  const std::filesystem::path part = order.base.string() + ".part";
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  const ToolRun run = run_tool(*pack.kl_base, order, part, stop_flag);
  std::string error = run.error;
  std::error_code bad;
  const uintmax_t size = std::filesystem::file_size(part, bad);
  if (error.empty() && (bad || size == 0))
    error = "the tool ended well but wrote no logits to " + part.string();
  if (error.empty() && disk_full(order.base.parent_path(), ""))   // the tool may not have noticed
    error = "the disk of " + order.base.parent_path().string() + " is full";
  if (error.empty()) {
    std::filesystem::rename(part, order.base, bad);
    if (bad) error = "cannot rename " + part.string() + ": " + bad.message();
  }
  if (!error.empty()) {
    std::filesystem::remove(part, ignored);
    return no_evidence(error, run.seconds);
  }
  KlResult result;
  result.ok = true;
  result.tokens = order.tokens;
  result.ppl_ratio = 1;
  result.top1 = 1;
  result.seconds = run.seconds;
  return result;
}

KlResult compare_kl(const Pack& pack, const KlOrder& order, const volatile bool* stop_flag) {
  if (!pack.kl_compare) return failed("the pack " + pack.name + " has no quality tool (kl_compare)");
  if (!std::filesystem::exists(order.base)) return no_evidence("stock's logits are missing: " + order.base.string());
  const ToolRun run = run_tool(*pack.kl_compare, order, order.base, stop_flag);
  if (!run.error.empty()) return run.no_evidence ? no_evidence(run.error, run.seconds) : failed(run.error, run.seconds);
  KlResult result;
  result.error = read_fields(*pack.kl_compare, run.output, result);
  if (!result.error.empty()) return failed(result.error, run.seconds);
  result.ok = true;
  result.tokens = order.tokens;
  result.seconds = run.seconds;
  return result;
}

}  // namespace hyperloom
