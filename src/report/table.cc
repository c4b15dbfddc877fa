#include <fmt/format.h>

#include "base/text.h"
#include "report/findings.h"
#include "report/words.h"

namespace hyperloom {
namespace {

constexpr size_t kNameWidth = 40;

// At most `width` columns; ASCII in, so bytes are columns. Anything else is shown as '?'.
std::string fit(std::string_view text, size_t width) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 && byte < 0xC0) continue;  // the rest of a UTF-8 character
    out += byte >= 0x20 && byte < 0x7F ? c : '?';
  }
  return out.size() > width ? out.substr(0, width - 3) + "..." : out;
}

std::string row(std::string_view id, std::string_view name, std::string_view effect,
                std::string_view pairs, std::string_view decision) {
  const std::string line =
      fmt::format("  {:<6}{:<{}}  {:<22}{:>6}  {}", fit(id, 5), fit(name, kNameWidth), kNameWidth,
                  fit(effect, 22), fit(pairs, 6), fit(decision, 20));
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string effect_of(const StageRow& stage) {
  if (!stage.effect) return "-";
  const Interval& interval = stage.effect->interval;
  std::string text = ratio_text(interval.mean) + "x";
  if (stage.effect->fresh && interval.n > 1) text += " " + interval_text(interval);
  return stage.effect->fresh ? text : text + " *";
}

std::string reverted_word(const SessionState& state, const StageRow& stage) {
  const Proposal* proposal =
      stage.comparison ? state.proposal(stage.comparison->intent.proposal) : nullptr;
  return proposal && proposal->reverted ? "reverted: " + proposal->reverted->code : stage.decision;
}

}  // namespace

std::string render_table(const SessionState& state) {
  const bool provisional = !state.closed || state.closed->provisional;
  const Findings findings = gather({.state = state,
                                    .session_dir = {},
                                    .stock_launch = {},
                                    .best_launch = {},
                                    .provisional = provisional,
                                    .stop_reason = ""});
  std::string out;
  for (const std::string& line : {findings.headline, findings.subline}) {
    std::string shown;
    for (const std::string& word : split_words(line)) {
      if (!shown.empty() && shown.size() + word.size() + 3 > 100) {
        out += "  " + shown + "\n";
        shown.clear();
      }
      shown += (shown.empty() ? "" : " ") + fit(word, 90);
    }
    if (!shown.empty()) out += "  " + shown + "\n";
  }
  out += "\n" + row("id", "stage", "speed-up", "pairs", "decision");
  const auto add = [&](const StageRow& stage, const std::string& decision) {
    const size_t count = stage.pairs.size();
    out +=
        row(stage.id, stage.name, effect_of(stage), count ? std::to_string(count) : "-", decision);
  };
  for (const StageRow& stage : findings.stages) {
    if (stage.kind != "final") add(stage, stage.decision);
  }
  for (const StageRow& stage : findings.reverted) add(stage, reverted_word(state, stage));
  for (const StageRow& stage : findings.stages) {
    if (stage.kind == "final") add(stage, stage.decision);
  }
  if (findings.stages.size() + findings.reverted.size() > 1) {
    out += "  * raw mean of the deciding pairs, which overstates; only the final row is a claim.\n";
  }
  return out;
}

}  // namespace hyperloom
