#include "engine/failure.h"

#include <csignal>
#include <regex>

#include "base/text.h"
#include "os/environment.h"

namespace hyperloom {
namespace {

constexpr size_t kMaxLine = 600;      // std::regex recurses by character; causes stand at the start of a line
constexpr size_t kMaxLines = 4000;    // of a huge log the head (boot) and the tail (death) are read
constexpr size_t kWindow = 4;

// Patterns are compiled once a classification, not once a line.
struct Compiled {
  const FailurePattern* pattern;
  std::regex match;
  std::optional<std::regex> unless;
  bool multi_line;
};

std::vector<Compiled> compile(const Pack& pack, const std::string& phase) {
  std::vector<Compiled> result;
  for (const FailurePattern& pattern : pack.failures) {
    if (!pattern.phase.empty() && pattern.phase != phase) continue;
    Compiled compiled{&pattern, std::regex(pattern.match), std::nullopt,
                      pattern.match.find("\\n") != std::string::npos};
    if (!pattern.unless.empty()) compiled.unless = std::regex(pattern.unless);
    result.push_back(std::move(compiled));
  }
  return result;
}

// For multi-line patterns: this line and the next ones. Nothing matches only in the tail of a window, since the
// match must start in the first line.
std::string window_at(const std::vector<std::string>& lines, size_t at) {
  std::string window = lines[at];
  for (size_t i = at + 1; i < lines.size() && i < at + kWindow; ++i) window += "\n" + lines[i];
  return window;
}

bool matches(const Compiled& compiled, const std::string& line, const std::string& window) {
  const std::string& text = compiled.multi_line ? window : line;
  std::smatch match;
  if (!std::regex_search(text, match, compiled.match)) return false;
  if (static_cast<size_t>(match.position()) > line.size()) return false;
  return !compiled.unless || !std::regex_search(text, *compiled.unless);
}

bool innocent(const FailurePattern& pattern) {
  return pattern.failure_class == "wrapper" || pattern.failure_class == "benign";
}

// An access token or a signed address in a log goes nowhere: not to a report, not to a model.
std::string mask_secrets(const std::string& line) {
  static const std::regex kField("((?:token|secret|password|api[_-]?key|signature|credential|bearer)[\"']?\\s*[=: ]\\s*[\"']?)"
                                 "([A-Za-z0-9+/_.~%-]{8,})", std::regex::icase);
  return std::regex_replace(mask_tokens(line), kField, "$1***");
}

Failure from_pattern(const FailurePattern& pattern, const std::string& line) {
  return Failure{pattern.failure_class, pattern.id, mask_secrets(trim(line)), pattern.rung, pattern.first_move};
}

Failure plain(const std::string& failure_class, const std::string& line, const std::string& rung,
              const std::string& first_move) {
  return Failure{failure_class, failure_class, line, rung, first_move};
}

std::string last_words(const std::vector<std::string>& lines) {
  for (size_t i = lines.size(); i-- > 0;) {
    if (!trim(lines[i]).empty()) return mask_secrets(trim(lines[i]));
  }
  return "";
}

std::string with_last_words(const std::string& what, const std::vector<std::string>& lines) {
  const std::string last = last_words(lines);
  return last.empty() ? what + ", nothing in the log" : what + " after: " + last;
}

Failure by_exit(const std::optional<ExitStatus>& exit, const std::vector<std::string>& lines) {
  if (!exit) {
    return plain("never_ready", with_last_words("still running, not ready", lines), "flags",
                 "raise ready.timeout_s if it was still loading; else see the log");
  }
  const std::string line = with_last_words(exit->text(), lines);
  if (exit->signal == SIGKILL) {
    return plain("out_of_memory", line, "flags",
                 "something killed it, most likely the kernel for want of memory: use a smaller context or model");
  }
  if (exit->signal == SIGTERM || exit->signal == SIGINT || exit->signal == SIGHUP) {
    return plain("unknown", line, "none", "somebody else stopped it: find out who");
  }
  if (exit->signal != 0) return plain("crashed", line, "checkout", "try another version or build of the engine");
  if (exit->code == 127) {
    return plain("missing_library", line, "checkout", "the program or a library of it was not found: reinstall it");
  }
  if (exit->code == 126) return plain("not_executable", line, "none", "give the file execute rights (chmod +x)");
  if (exit->ok()) return plain("unknown", with_last_words("it ended by itself", lines), "none", "a server must keep running: check argv");
  return plain("unknown", line, "checkout", "read the log");
}

}  // namespace

Failure classify(const Pack& pack, const std::string& phase, const std::optional<ExitStatus>& exit,
                 const std::string& log) {
  std::vector<std::string> lines = clean_log_lines(log, kMaxLine);
  if (lines.size() > kMaxLines) lines.erase(lines.begin() + kMaxLines / 2, lines.end() - kMaxLines / 2);
  // No word in a log outweighs an instruction that this CPU refused.
  if (exit && exit->signal == SIGILL) {
    return plain("illegal_instruction", with_last_words(exit->text(), lines), "rebuild",
                 "build for the instruction sets that this CPU really runs");
  }
  // The signal is the last line, so that a pack can know a bare SIGSEGV too; any cause in the log comes first.
  std::vector<std::string> with_end = lines;
  if (exit && exit->signal != 0) with_end.push_back(exit->text());
  const std::vector<Compiled> patterns = compile(pack, phase);
  for (size_t at = 0; at < with_end.size(); ++at) {
    const std::string window = window_at(with_end, at);
    for (const Compiled& compiled : patterns) {
      if (!matches(compiled, with_end[at], window)) continue;
      if (innocent(*compiled.pattern)) break;
      return from_pattern(*compiled.pattern, at < lines.size() ? lines[at] : with_last_words(exit->text(), lines));
    }
  }
  return by_exit(exit, lines);
}

std::string Failure::signature() const {
  static const std::regex kChanging("0x[0-9a-fA-F]+|[0-9]+");
  std::string normal = std::regex_replace(line.substr(0, kMaxLine), kChanging, "N");
  return failure_class + ": " + normal;
}

std::string Failure::text() const {
  std::string result = failure_class;
  if (!line.empty()) result += ": " + line;
  if (!first_move.empty()) result += " (" + first_move + ")";
  return result;
}

}  // namespace hyperloom
