// bench/quality_faults.py: one sitting of the session's own exam, or the judgement of several, as JSON lines.
//   bench_exam sit URL SEED [STOCK_SHEET]      the sheet of the server at URL; stops early where worse than STOCK_SHEET
//   bench_exam judge STOCK AGAIN CANDIDATE [exact]
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "measure/exam.h"

namespace hyperloom {
namespace {

ExamSheet sheet_in(const std::string& file) { return Json::parse(read_file(file)).get<ExamSheet>(); }

int run(const std::vector<std::string>& args) {
  if (args.size() >= 3 && args[0] == "sit") {
    const ExamSheet stock = args.size() > 3 ? sheet_in(args[3]) : ExamSheet{};
    ExamOrder order{.url = args[1], .items = exam_items(std::stoull(args[2]))};
    order.stock = args.size() > 3 ? &stock : nullptr;
    std::puts(Json(sit_exam(order)).dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
  }
  if (args.size() >= 4 && args[0] == "judge") {
    const ExamReport r = judge_exam(sheet_in(args[1]), sheet_in(args[2]), sheet_in(args[3]), {.exact = args.size() > 4});
    Json json = r;
    json["held"] = r.held();
    std::puts(json.dump().c_str());
    return 0;
  }
  std::fputs("usage: bench_exam sit URL SEED [STOCK_SHEET] | judge STOCK AGAIN CANDIDATE [exact]\n", stderr);
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
