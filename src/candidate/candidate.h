// A candidate: stock plus an ordered stack of changes. Its hash is its identity; making it real never edits
// anything that exists (L3).
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace hyperloom {

struct Change {
  std::string kind;      // flag | env | precision | build | patch | table
  std::string knob;
  std::string value;
  bool operator==(const Change&) const = default;
  std::string text() const;                       // "-np 8", "weights Q8_0", "build clang-native"
};
void to_json(Json& json, const Change& change);
void from_json(const Json& json, Change& change);

struct Candidate {
  std::vector<Change> changes;                    // sorted by nothing: order of adoption; one entry a knob

  Candidate with(const Change& change) const;     // replaces the knob's earlier value
  Candidate without(const std::string& knob) const;
  const Change* find(const std::string& knob) const;
  std::string id() const;                         // "stock" or 12 hex of the sorted changes
  std::string text() const;                       // "stock" or changes joined by " + "
  bool operator==(const Candidate& other) const { return id() == other.id(); }
};
void to_json(Json& json, const Candidate& candidate);
void from_json(const Json& json, Candidate& candidate);

}  // namespace hyperloom
