// A recorded trace as requests of ours.
#pragma once

#include <cstdint>

#include "load/request_trace.h"

namespace hyperloom {

// The first `count` entries of the traffic's file, at its speed, with text that shares what their hash ids share. The text is the
// seed's; times and lengths are the file's in every trace. A file that ends before `count` goes round again, each round with text of
// its own. Prompts are blocks, made when they are sent: an hour of long prompts would not fit into memory.
void append_replay(const Traffic& traffic, uint64_t seed, int count, double tokens_per_word, RequestTrace& trace);

}  // namespace hyperloom
