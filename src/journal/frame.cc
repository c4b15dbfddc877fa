#include "journal/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/hash.h"

namespace hyperloom {
namespace {

constexpr size_t kHeader = 18;  // "llllllll cccccccc "
constexpr size_t kLongest = 0xffffffff;

// Types of version 1. A later version may add to them; an entry of it that we do not know may
// change the meaning of all others.
constexpr std::array<std::string_view, 21> kTypes = {
    "session.opened", "session.resumed", "session.stopped", "phase.entered",
    "probe",          "candidate.made",  "build.done",      "leg.started",
    "leg.done",       "leg.void",        "pair.done",       "comparison.decided",
    "quality.done",   "intent",          "gate.refused",    "verdict",
    "kept",           "reverted",        "recipe.written",  "closed",
    "exam.judged"};

std::optional<uint32_t> hex8(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 8, value, 16);
  if (error != std::errc() || end != text.data() + 8) return std::nullopt;
  // Only our own spelling: a flipped bit may turn 'a' into 'A'.
  if (std::any_of(text.begin(), text.begin() + 8, [](char c) { return c >= 'A' && c <= 'F'; }))
    return std::nullopt;
  return value;
}

struct Frame {
  std::string_view json;
  const char* fault = nullptr;  // nothing when the frame is whole
  bool whole_before_more =
      false;  // good up to where it says that it ends, but no '\n' there: not a torn write
  bool ends_file = false;  // says itself that it is the last
};

// `rest` starts at a line and runs to the end of the file; `line` is its first line without '\n'.
Frame read_frame(std::string_view rest, std::string_view line) {
  Frame frame;
  if (line.size() < kHeader || line[8] != ' ' || line[17] != ' ')
    return frame.fault = "no frame", frame;
  const auto length = hex8(line), crc = hex8(line.substr(9));
  if (!length || !crc) return frame.fault = "no frame", frame;
  frame.ends_file = rest.size() == kHeader + *length + 1;
  frame.whole_before_more = rest.size() > kHeader + *length + 1 &&
                            line.size() > kHeader + *length &&
                            crc32c(rest.substr(kHeader, *length)) == *crc;
  if (line.size() - kHeader != *length) return frame.fault = "wrong length", frame;
  frame.json = line.substr(kHeader);
  if (crc32c(frame.json) != *crc) frame.fault = "wrong checksum";
  return frame;
}

// Empty = nothing wrong.
std::string read_entry(std::string_view json, uint64_t seq, const std::string& prev, Entry& entry) {
  Json value = Json::parse(json, nullptr, false);
  if (!value.is_object()) return "not a JSON object";
  try {
    const int version = value.at("v");
    entry.type = value.at("type");
    const bool ours = entry.type.rfind("x-", 0) == 0;
    const bool known = std::find(kTypes.begin(), kTypes.end(), entry.type) != kTypes.end();
    if (version < 1) return fmt::format("impossible version {}", version);
    if (version > kJournalVersion && !ours && !known)
      return fmt::format(
          "entry type `{}` of journal version {}, which this program (version {}) does not know",
          entry.type, version, kJournalVersion);
    entry.seq = value.at("seq");
    if (entry.seq != seq) return fmt::format("entry number {} where {} should be", entry.seq, seq);
    if (value.at("prev").get_ref<const std::string&>() != prev)
      return "the chain is broken: an entry before was changed";
    entry.boot_id = value.at("boot_id");
    entry.mono_ns = value.at("mono_ns");
    entry.wall = value.at("wall");
    entry.id = value.at("id");
    entry.body = std::make_shared<const Json>(std::move(value.at("body")));
  } catch (const Json::exception& error) {
    return std::string("a field is missing or of the wrong type: ") + error.what();
  }
  return "";
}

void check_numbers(const Json& value, const std::string& where) {
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    throw internal_error("journal entry with a number that JSON cannot hold at `" + where + "`");
  if (value.is_structured())
    for (const auto& item : value.items()) check_numbers(item.value(), where + "/" + item.key());
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string chain_hash(std::string_view line) { return sha256_hex(line).substr(0, 16); }

std::string frame_entry(Entry& entry, const std::string& prev) {
  check_numbers(*entry.body, entry.type);
  std::string body = dump(*entry.body);
  std::string json = fmt::format(
      R"({{"v":{},"seq":{},"prev":"{}","boot_id":{},"mono_ns":{},"wall":{},"type":{},"id":{},"body":{}}})",
      kJournalVersion, entry.seq, prev, dump(entry.boot_id), entry.mono_ns, dump(entry.wall),
      dump(entry.type), dump(entry.id), body);
  if (json.size() > kLongest) throw internal_error("journal entry above 4 GiB: store it as a blob");
  // Readers of the file and of memory must see the same value.
  if (body.find("\xef\xbf\xbd") != std::string::npos)
    entry.body = std::make_shared<const Json>(Json::parse(body));
  return fmt::format("{:08x} {:08x} ", json.size(), crc32c(json)) + json + '\n';
}

ParsedJournal parse_journal(std::string_view bytes, const std::string& name) {
  ParsedJournal parsed;
  while (parsed.good_bytes < bytes.size()) {
    const std::string_view rest = bytes.substr(parsed.good_bytes);
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const uint64_t number = parsed.contents.entries.size() + 1;
    const Frame frame = read_frame(rest, line);
    const bool cut = end == std::string_view::npos;
    const bool last = cut || end + 1 == rest.size() || frame.ends_file;
    if (last && (frame.fault || cut) && !frame.whole_before_more) {
      parsed.contents.notice = fmt::format(
          "{}: dropped a torn tail of {} bytes after entry {} (a crash or a full disk cut the "
          "write)",
          name, rest.size(), number - 1);
      break;
    }
    Entry entry;
    const std::string fault = frame.fault ? frame.fault
                              : cut       ? "no line end"
                                          : read_entry(frame.json, number, parsed.last_hash, entry);
    if (!fault.empty())
      throw bad_input(fmt::format("{}:{}: byte offset {}: damaged journal: {}", name, number,
                                  parsed.good_bytes, fault),
                      "restore the file from a copy, or start a new session: a journal with a hole "
                      "proves nothing");
    parsed.contents.entries.push_back(std::move(entry));
    parsed.last_hash = chain_hash(line);
    parsed.good_bytes += end + 1;
  }
  return parsed;
}

}  // namespace hyperloom
