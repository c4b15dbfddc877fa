// One field list per event serves writing and reading. Rules (docs/formats.md): absent = the key is
// missing, never null; unknown keys are ignored; a missing or mistyped key is an Error(BadInput)
// that names event and key.
#pragma once

#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace hyperloom {

template <class Event, class T>
concept Is = std::same_as<std::remove_const_t<Event>, T>;

// Writes `value` unless it says nothing: an empty string, list or optional, or a double that JSON
// cannot hold.
class FieldWriter {
 public:
  explicit FieldWriter(Json& json) : json_(json) {}
  template <class T>
  void must(const char* key, const T& value) {
    json_[key] = value;
  }
  template <class T>
  void operator()(const char* key, const T& value) {
    if (says_something(value)) json_[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) json_[key] = *value;
  }
  // `absent` is the value that stands for "not there".
  template <class T>
  void unless(const T& absent, const char* key, const T& value) {
    if (!(value == absent)) (*this)(key, value);
  }

 private:
  template <class T>
  static bool says_something(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::isfinite(value);
    } else if constexpr (requires { value.empty(); }) {
      return !value.empty();
    } else {
      return true;
    }
  }
  Json& json_;
};

class FieldReader {
 public:
  FieldReader(const Json& json, const char* event) : json_(json), event_(event) {
    if (!json.is_object()) throw bad_input(where("") + "expected an object", kMend);
  }
  template <class T>
  void must(const char* key, T& value) {
    if (!json_.contains(key)) throw bad_input(where(key) + "the key is missing", kMend);
    (*this)(key, value);
  }
  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = json_.find(key);
    if (found == json_.end()) return;
    try {
      found->get_to(value);
    } catch (const Json::exception& problem) {
      throw bad_input(where(key) + problem.what(), kMend);
    }
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    if (!json_.contains(key)) return;
    value.emplace();
    (*this)(key, *value);
  }
  template <class T>
  void unless(const T&, const char* key, T& value) {
    (*this)(key, value);
  }

 private:
  static constexpr const char* kMend =
      "the journal was written by another program or version; read it with the hyperloom that "
      "wrote it";
  std::string where(const std::string& key) const {
    return std::string("journal entry body ") + event_ + (key.empty() ? "" : ", `" + key + "`") +
           ": ";
  }
  const Json& json_;
  const char* event_;
};

template <class E>
void write_event(Json& json, const E& event) {
  json = Json::object();
  FieldWriter writer(json);
  fields(writer, event);
}

template <class E>
void read_event(const Json& json, const char* name, E& event) {
  FieldReader reader(json, name);
  fields(reader, event);
}

// Both directions of an event whose field list says all. Used inside namespace hyperloom, after its
// `fields`.
#define HYPERLOOM_EVENT(Type, name)                                         \
  void to_json(Json& json, const Type& event) { write_event(json, event); } \
  void from_json(const Json& json, Type& event) { read_event(json, name, event); }

}  // namespace hyperloom
