// bench/quality_faults.py: one sitting of the session's own exam, or the judgement of several, as JSON lines.
//   bench_exam sit URL SEED [STOCK_SHEET]      the sheet of the server at URL; stops early where worse than STOCK_SHEET
//   bench_exam judge SEED STOCK AGAIN CANDIDATE [exact]
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "measure/exam.h"

namespace hyperloom {
namespace {

constexpr int kItems = 96;

Json json_of(const ExamSheet& sheet) {
  Json answers = Json::array();
  for (const ExamAnswer& a : sheet.answers)
    answers.push_back({{"right", a.right}, {"ended", a.ended}, {"failed", a.failed}, {"too_long", a.too_long}, {"text", a.text}});
  return {{"answers", answers}, {"ignored", sheet.ignored}, {"seconds", sheet.seconds}};
}

ExamSheet sheet_in(const std::string& file) {
  const Json json = Json::parse(read_file(file));
  ExamSheet sheet;
  for (const Json& a : json.at("answers"))
    sheet.answers.push_back({a.at("right"), a.at("ended"), a.at("failed"), a.at("too_long"), a.at("text").get<std::string>()});
  sheet.ignored = json.at("ignored").get<std::set<std::string>>();
  return sheet;
}

int run(const std::vector<std::string>& args) {
  if (args.size() >= 3 && args[0] == "sit") {
    const ExamSheet stock = args.size() > 3 ? sheet_in(args[3]) : ExamSheet{};
    ExamOrder order{.url = args[1], .items = exam_items(std::stoull(args[2]), kItems)};
    order.stock = args.size() > 3 ? &stock : nullptr;
    std::puts(json_of(sit_exam(order)).dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
  }
  if (args.size() >= 5 && args[0] == "judge") {
    const ExamReport r = judge_exam(exam_items(std::stoull(args[1]), kItems), sheet_in(args[2]), sheet_in(args[3]), sheet_in(args[4]), args.size() > 5);
    std::puts(Json{{"held", r.held()}, {"failures", r.failures}, {"notes", r.notes}, {"items", r.compared}, {"right", r.share_right},
                   {"stock_right", r.stock_right}, {"agreement", r.agreement}, {"stock_agreement", r.stock_agreement}}.dump().c_str());
    return 0;
  }
  std::fputs("usage: bench_exam sit URL SEED [STOCK_SHEET] | judge SEED STOCK AGAIN CANDIDATE [exact]\n", stderr);
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
