#include "cli/bench_parts.h"

namespace hyperloom {

const char* bench_footer() {
  return R"(Examples
  hyperloom bench --url http://127.0.0.1:8000                              8 clients, 64 requests of 128 + 64 tokens
  hyperloom bench --url ... --rate 4 --requests 300 --limit ttft:p99:500   open loop, goodput within a limit
  hyperloom bench --url ... --sweep                                        1, 2, 4, ... clients up to the knee
  hyperloom bench --url ... --slo 'ttft:p99<500ms,tpot:p90<40ms'           the highest rate within these limits
  hyperloom bench --url ... --trace mooncake_trace.jsonl --speed 2         recorded traffic, twice as fast
  hyperloom bench --workload workload.yaml                                 launches the engine, measures one leg

Coming from `vllm bench serve`
  The same here: --base-url, --model, --header, --insecure, --num-prompts, --request-rate, --max-concurrency, --num-warmups,
  --random-input-len, --random-output-len, --dataset-path, --ignore-eos, --seed, --goodput, --burstiness, --ramp-up-strategy,
  --ramp-up-start-rps, --ramp-up-end-rps. The rest:
    --host H --port P                           --url http://H:P
    --backend openai-chat, or openai            --api chat (default), or completions
    --request-rate inf                          --clients N: that many in flight, always
    --dataset-name random, sharegpt, custom     --prompt-tokens N, or --dataset FILE, whose form is seen
    --tokenizer, --trust-remote-code            none: tokens are the server's own count (usage)
    --save-result --result-filename FILE        --save-result FILE, with the same fields
    --save-detailed                             in it; request by request with --save-requests FILE
    --percentile-metrics, --metric-percentiles  always TTFT, TPOT, ITL and E2E at p50, p90, p95 and p99
    --temperature 0                             always
  Figures differ where theirs hide a wait: latencies count from the moment a request was due, throughput from the window of full
  load (warm-up and drain are outside), percentiles are nearest rank, and warnings say what they are not worth.)";
}

}  // namespace hyperloom
