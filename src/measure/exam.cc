#include "measure/exam.h"

#include <algorithm>

#include "load/generator.h"
#include "measure/sampler_probes.h"
#include "os/event_loop.h"

namespace hyperloom {
namespace {

ExamAnswer answer_of(const ExamItem& item, const RequestRecord& record) {
  ExamAnswer answer{.kind = item.kind};
  answer.failed = record.state != RequestState::Completed;
  answer.refused = item.is_long() && record.http_status == 400;
  answer.text = record.reasoning + record.text;
  answer.ended = record.finish_reason == "stop";
  answer.too_long = record.tokens() > item.max_tokens;
  answer.circles = looks_repetitive(answer.text);
  answer.right = !answer.failed && answers(item, record.text);
  return answer;
}

// One server under examination: asks items, watches the clock and the stop flag.
class Sitting {
 public:
  explicit Sitting(const ExamOrder& order) : order_(order), begun_s_(EventLoop::now_s()) {}

  double seconds() const { return EventLoop::now_s() - begun_s_; }
  double left_s() const { return order_.limit_s - seconds(); }
  bool stopped() const { return left_s() <= 0 || (order_.stop_flag && *order_.stop_flag); }

  // The answers to items of one API, in their order; nothing when it was cut short.
  std::optional<std::vector<ExamAnswer>> ask(const std::vector<size_t>& items, int clients) const {
    if (items.empty()) return std::vector<ExamAnswer>{};
    if (stopped()) return {};
    RequestTrace trace;
    for (size_t i : items) trace.requests.push_back({order_.items[i].prompt, order_.items[i].max_tokens, 0});
    LoadSpec spec;
    spec.url = order_.url;
    spec.model = order_.model;
    spec.traffic.api = order_.items[items.front()].chat() ? Traffic::Api::Chat : Traffic::Api::Completions;
    spec.traffic.clients = std::min(clients, static_cast<int>(items.size()));
    spec.traffic.ignore_eos = false;
    spec.request_timeout_s = spec.time_limit_s = left_s();
    spec.stream = false;
    const LoadResult load = run_load(spec, trace, {}, order_.stop_flag);
    if (load.records.size() < items.size()) return {};
    std::vector<ExamAnswer> answers;
    for (const RequestRecord& record : load.records) {
      if (record.state == RequestState::CutOff) return {};
      answers.push_back(answer_of(order_.items[items[answers.size()]], record));
    }
    return answers;
  }

 private:
  const ExamOrder& order_;
  const double begun_s_;
};

// Parts that are asked together: the short items by the looks of the paired test, so that a broken server dies early; the
// chats; the long items, of which each finds the text read already.
std::vector<std::vector<size_t>> parts_of(const std::vector<ExamItem>& items) {
  std::vector<size_t> kinds[3];
  for (size_t i = 0; i < items.size(); i++) kinds[items[i].is_long() ? 2 : items[i].chat() ? 1 : 0].push_back(i);
  std::vector<std::vector<size_t>> parts;
  size_t from = 0;
  for (int until : share_looks(static_cast<int>(kinds[0].size()))) {
    parts.emplace_back(kinds[0].begin() + static_cast<std::ptrdiff_t>(from), kinds[0].begin() + until);
    from = static_cast<size_t>(until);
  }
  parts.push_back(kinds[1]);
  parts.push_back(kinds[2]);
  return parts;
}

// Asked last: an engine's prompt cache may hold them by now, so what differs is what was generated in company.
void ask_alone(const ExamOrder& order, const Sitting& sitting, ExamSheet& sheet) {
  for (bool chat : {false, true}) {
    std::vector<size_t> items;
    for (size_t i = 0; i < order.items.size(); i++)
      if (order.items[i].alone && order.items[i].chat() == chat) items.push_back(i);
    const auto said = sitting.ask(items, 1);
    for (size_t k = 0; said && k < items.size(); k++)
      if (!(*said)[k].failed) sheet.answers[items[k]].alone = (*said)[k].text;
  }
}

}  // namespace

ExamSheet sit_exam(const ExamOrder& order) {
  const Sitting sitting(order);
  ExamSheet sheet;
  sheet.asked = static_cast<int>(order.items.size());
  sheet.ignored = ignored_settings(order.url, order.model, std::max(1.0, sitting.left_s()));
  const auto dead = [&] { return order.stock && proven_worse(*order.stock, sheet); };
  for (const std::vector<size_t>& part : parts_of(order.items)) {
    const bool is_long = !part.empty() && order.items[part.front()].is_long();
    const auto said = sitting.ask(part, is_long ? 1 : std::max(1, order.clients));
    if (!said) break;
    sheet.answers.insert(sheet.answers.end(), said->begin(), said->end());
    if (dead()) break;
  }
  if (sheet.whole() && order.clients > 1 && !dead()) ask_alone(order, sitting, sheet);
  sheet.seconds = sitting.seconds();
  return sheet;
}

}  // namespace hyperloom
