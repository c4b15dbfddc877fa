#include "measure/exam_leg.h"

#include "measure/leg_evidence.h"

namespace hyperloom {
namespace {

constexpr double kDeathWait_s = 2;   // a crash closes its sockets before the process has ended (core dump)

bool any_failed(const ExamSheet& sheet) {
  for (const ExamAnswer& answer : sheet.answers)
    if (answer.failed && !answer.refused) return true;
  return false;
}

}  // namespace

std::variant<ExamSheet, Failure, NoExam> run_exam_leg(const Pack& pack, const ExamLegOrder& order, const std::filesystem::path& log, const LegHooks& hooks) {
  const auto stopped = [&] { return hooks.stop_flag && *hooks.stop_flag; };
  auto started = Server::start(pack, order.launch, log, hooks.on_started, hooks.stop_flag);
  if (const Failure* failure = std::get_if<Failure>(&started)) {
    if (stopped()) return NoExam{"stopped"};
    if (lost_our_port(*failure, order.launch, order.ran_before)) return NoExam{"another process took our port: " + failure->line};
    return *failure;
  }
  Server& server = *std::get<std::unique_ptr<Server>>(started);
  ExamOrder exam = order.exam;
  exam.url = server.url();
  exam.stop_flag = hooks.stop_flag;
  ExamSheet sheet = sit_exam(exam);
  if (any_failed(sheet)) server.child().wait(kDeathWait_s);
  const std::optional<Failure> died = server.died();
  const Server::Gone gone = server.stop();
  if (stopped()) return NoExam{"stopped"};
  if (died) return *died;
  const bool settled = sheet.whole() || (exam.stock && proven_worse(*exam.stock, sheet));
  if (!settled)
    return NoExam{"the exam ran out of time: " + std::to_string(sheet.answers.size()) + " of " + std::to_string(sheet.asked) + " items in " +
                  std::to_string(static_cast<int>(sheet.seconds)) + " s"};
  if (!gone.clean) return NoExam{"the server is not gone: " + gone.problem};
  return sheet;
}

}  // namespace hyperloom
