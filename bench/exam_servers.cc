// bench/quality_faults.py: the session's own checks of quality, one at a time, as JSON lines.
//   bench_exam sit URL SEED CLIENTS [STOCK_SHEET]        the sheet of the server at URL; stops early where worse than STOCK_SHEET
//   bench_exam judge STOCK AGAIN CANDIDATE [exact]
//   bench_exam kl PACK TOOLS WORK STOCK_MODEL MODEL [FLAG...]   divergence by the pack's tool, against the default limits
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "measure/exam.h"
#include "measure/quality.h"

namespace hyperloom {
namespace {

constexpr int kTokens = 8192;

ExamSheet sheet_in(const std::string& file) { return Json::parse(read_file(file)).get<ExamSheet>(); }
void say(const Json& json) { std::puts(json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str()); }

// Items after which a session would have let it die; 0 = never.
int dead_after(const ExamSheet& stock, const ExamSheet& candidate) {
  ExamSheet part = candidate;
  for (size_t n = 1; n <= candidate.answers.size(); n++) {
    part.answers.assign(candidate.answers.begin(), candidate.answers.begin() + static_cast<std::ptrdiff_t>(n));
    for (ExamAnswer& answer : part.answers)
      if (n < candidate.answers.size()) answer.alone.reset();   // asked last
    if (proven_worse(stock, part)) return static_cast<int>(n);
  }
  return 0;
}

void sit(const std::vector<std::string>& args) {
  const ExamSheet stock = args.size() > 4 ? sheet_in(args[4]) : ExamSheet{};
  ExamOrder order{.url = args[1], .items = exam_items(std::stoull(args[2])), .clients = std::stoi(args[3])};
  order.stock = args.size() > 4 ? &stock : nullptr;
  say(sit_exam(order));
}

void judge(const std::vector<std::string>& args) {
  const ExamSheet stock = sheet_in(args[1]), candidate = sheet_in(args[3]);
  const ExamReport report = judge_exam(stock, sheet_in(args[2]), candidate, {.exact = args.size() > 4});
  Json json = report;
  json["held"] = report.held();
  json["dead_after"] = dead_after(stock, candidate);
  say(json);
}

void kl(const std::vector<std::string>& args) {
  const Pack pack = load_pack(args[1]);
  const fs::path work = args[3];
  make_folders(work);
  KlOrder order{.tools = args[2], .model = args[4], .tokens = kTokens, .base = work / "stock.logits"};
  order.text = evaluation_text(work, kTokens);
  KlResult result;
  if (!fs::exists(order.base)) result = make_kl_base(pack, order);
  if (fs::exists(order.base)) {
    order.model = args[5];
    order.flags = {args.begin() + 6, args.end()};
    result = compare_kl(pack, order);
  }
  say({{"ok", result.ok}, {"error", result.error}, {"mean_kl", result.mean_kl}, {"ppl_ratio", result.ppl_ratio}, {"top1", result.top1},
       {"seconds", result.seconds}, {"failures", kl_failures(result, {})}});
}

int run(const std::vector<std::string>& args) {
  const std::string word = args.empty() ? "" : args[0];
  if (word == "sit" && args.size() >= 4) return sit(args), 0;
  if (word == "judge" && args.size() >= 4) return judge(args), 0;
  if (word == "kl" && args.size() >= 6) return kl(args), 0;
  std::fputs("usage: bench_exam sit URL SEED CLIENTS [STOCK_SHEET] | judge STOCK AGAIN CANDIDATE [exact] | kl PACK TOOLS WORK STOCK_MODEL MODEL [FLAG...]\n", stderr);
  return 2;
}

}  // namespace
}  // namespace hyperloom

int main(int argc, char** argv) {
  try {
    return hyperloom::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_exam: %s\n", error.what());
    return 1;
  }
}
