#include "load/talks.h"

namespace hyperloom {

size_t Talks::opening(size_t place) const {
  while (place < trace_.requests.size() && trace_.requests[place].follows) ++place;
  return place;
}

bool Talks::goes_on(size_t place) const { return place + 1 < trace_.requests.size() && trace_.requests[place + 1].follows; }

int Talks::turn(size_t place) const {
  const auto found = said_.find(place);
  return found != said_.end() ? static_cast<int>(found->second.size()) + 1 : goes_on(place) ? 1 : 0;
}

const std::vector<Said>& Talks::before(size_t place) const {
  static const std::vector<Said> kNothing;
  const auto found = said_.find(place);
  return found == said_.end() ? kNothing : found->second;
}

double Talks::shared(size_t place) const {
  const PlannedRequest& planned = trace_.requests[place];
  size_t old = 0;
  for (const Said& said : before(place)) old += said.user.size() + said.answer.size();
  return old == 0 ? planned.shared : static_cast<double>(old) / static_cast<double>(old + planned.prompt.size());
}

void Talks::answered(size_t place, std::string answer) {
  std::vector<Said> said;
  if (const auto found = said_.find(place); found != said_.end()) {
    said = std::move(found->second);
    said_.erase(found);
  }
  if (!goes_on(place)) return;
  said.push_back({prompt_text(trace_.requests[place]), std::move(answer)});
  said_[place + 1] = std::move(said);
}

size_t Talks::broken_off(size_t place) {
  said_.erase(place);
  return opening(place + 1) - (place + 1);
}

}  // namespace hyperloom
