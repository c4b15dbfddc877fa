#include "candidate/candidate.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"

namespace hyperloom {
namespace {

constexpr size_t kIdLength = 12;

}  // namespace

std::string Change::text() const {
  if (kind == "env") return knob + "=" + value;
  if (kind == "patch") return "patch " + knob;
  if (kind == "flag" && value == "true") return knob;
  if (kind == "flag" && value == "false") return "without " + knob;
  return knob + " " + value;
}

void to_json(Json& json, const Change& change) {
  json = Json{{"kind", change.kind}, {"knob", change.knob}, {"value", change.value}};
}

void from_json(const Json& json, Change& change) {
  json.at("kind").get_to(change.kind);
  json.at("knob").get_to(change.knob);
  json.at("value").get_to(change.value);
}

Candidate Candidate::with(const Change& change) const {
  Candidate result = without(change.knob);
  result.changes.push_back(change);
  return result;
}

Candidate Candidate::without(const std::string& knob) const {
  Candidate result = *this;
  std::erase_if(result.changes, [&](const Change& change) { return change.knob == knob; });
  return result;
}

const Change* Candidate::find(const std::string& knob) const {
  for (const Change& change : changes) {
    if (change.knob == knob) return &change;
  }
  return nullptr;
}

std::string Candidate::id() const {
  if (changes.empty()) return "stock";
  std::vector<std::string> parts;
  for (const Change& change : changes) {
    parts.push_back(Json{change.kind, change.knob, change.value}.dump(-1, ' ', true, Json::error_handler_t::replace));
  }
  std::sort(parts.begin(), parts.end());
  return sha256_hex(join(parts, "\n")).substr(0, kIdLength);
}

std::string Candidate::text() const {
  if (changes.empty()) return "stock";
  std::vector<std::string> parts;
  for (const Change& change : changes) parts.push_back(change.text());
  return join(parts, " + ");
}

void to_json(Json& json, const Candidate& candidate) {
  json = Json::array();
  for (const Change& change : candidate.changes) json.push_back(change);
}

void from_json(const Json& json, Candidate& candidate) {
  candidate.changes = json.get<std::vector<Change>>();
}

}  // namespace hyperloom
