// What a pack's expressions may know: model.*, machine.*, traffic.* and knob.* (the value in force now).
#pragma once

#include "candidate/candidate.h"
#include "engine/model_facts.h"
#include "engine/pack.h"
#include "os/machine.h"
#include "workload/workload.h"

namespace hyperloom {

// knob.NAME: the candidate's value, else the user's own argv or env, else the pack's stock value; absent when none is
// known. traffic.slot_tokens: what one sequence may need, prompt and answer with their spread, rounded up to 256.
// machine.FLAG is 1 for each CPU flag; machine.clang is the newest clang's version, machine.openblas is 1 when its
// headers are here.
Facts gather_facts(const Pack& pack, const ModelFacts& model, const MachineFacts& machine, const Workload& workload,
                   const Candidate& candidate);

// The newest "clang-NN" on PATH ("clang" when only that is there), with its major version; empty and 0 when none.
struct Clang { std::string c, cxx; int version = 0; };
Clang find_clang();

// What builds may use here, for MachineFacts::tools. Looked up once a session: facts come from the journal afterwards.
std::map<std::string, double> find_tools();

}  // namespace hyperloom
