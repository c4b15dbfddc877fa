// Recorded traffic to replay: when requests came, how long they and their answers were, and what they shared.
//   first byte '{'   JSON lines as the Mooncake traces: {"timestamp": ms, "input_length", "output_length", "hash_ids": [..]};
//                    each hash id names 512 tokens (the last the rest), equal ids equal text. Without hash_ids nothing is shared.
//   else             CSV as the Azure LLM inference traces, its first line naming the columns TIMESTAMP, ContextTokens and
//                    GeneratedTokens (others are passed over); times as 2023-11-16 18:15:46.6805900, with or without an offset
//                    from UTC, or as seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "workload/traffic.h"

namespace hyperloom {

constexpr int kTraceBlockTokens = 512;

struct TraceEntry {
  double at_s = 0;                        // from the first entry
  int prompt_tokens = 0, output_tokens = 0;   // at least 1 each; an answer of 0 tokens is asked for as 1, the least a server takes
  std::vector<uint64_t> hash_ids;
};

// Calls `on_entry` until it returns false. One line in memory at a time. Error(BadInput) names file, line, byte and mend: no
// entry at all, no such form, a number that is none, times that run backwards, more hash ids than the prompt has blocks.
void read_trace(std::istream& in, const std::string& name, const std::function<bool(TraceEntry&)>& on_entry);

// The first `count` entries. Error(BadInput) also when the file's SHA-256 is not `sha256` (unless that is empty).
std::vector<TraceEntry> read_trace_file(const std::string& file, const std::string& sha256, size_t count);

// Reads the whole file once and makes `traffic` a replay of it: kind, file, SHA-256, entries, lengths and mean rate. Error(BadInput) as above.
void set_trace(Traffic& traffic, const std::string& file, double speed);

}  // namespace hyperloom
