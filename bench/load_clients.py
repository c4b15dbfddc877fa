"""The load clients that are compared: how each is started, and what it reports. Times in milliseconds."""
import json
import os
import pathlib

PROMPT_TOKENS = 128


class Client:
    """`command(url, setting, folder)` -> words; `report(stdout, folder)` -> {"ttft_p50_ms", "ttft_p99_ms", "output_tok_s"}."""

    def __init__(self, name, version, program, command, report, environment=None):
        self.name, self.version, self.program = name, version, pathlib.Path(program)
        self.command, self.report, self.environment = command, report, environment or {}


def bare(build):
    program = build / "bench/bench_bare_client"

    def command(url, setting, folder):
        return [program, url.rsplit(":", 1)[1], setting.streams, setting.requests, setting.tokens, PROMPT_TOKENS]

    def report(stdout, folder):
        said = json.loads(stdout)
        return {"ttft_p50_ms": said["ttft_ms"]["p50"], "ttft_p99_ms": said["ttft_ms"]["p99"], "output_tok_s": None}
    return Client("bare", "-", program, command, report)


def hyperloom(build, version):
    program = build / "hyperloom"

    def command(url, setting, folder):
        return [program, "bench", "--url", url, "--clients", setting.streams, "--requests", setting.requests, "--warmup", 0,
                "--prompt-tokens", PROMPT_TOKENS, "--output-tokens", setting.tokens, "--json"]

    def report(stdout, folder):
        load = json.loads(stdout)["load"]
        return {"ttft_p50_ms": load["ttft_ms"]["p50"], "ttft_p99_ms": load["ttft_ms"]["p99"],
                "output_tok_s": load["output_tok_s"], "warnings": load["warnings"]}
    return Client("hyperloom", version, program, command, report)


def vllm(peers):
    program = peers / "vllm/bin/vllm"

    def command(url, setting, folder):
        return [program, "bench", "serve", "--backend", "openai-chat", "--base-url", url, "--endpoint", "/v1/chat/completions",
                "--model", setting.model, "--tokenizer", peers / "tokenizer", "--dataset-name", "random",
                "--random-input-len", PROMPT_TOKENS, "--random-output-len", setting.tokens, "--num-prompts", setting.requests,
                "--max-concurrency", setting.streams, "--ignore-eos", "--disable-tqdm",
                "--save-result", "--result-dir", folder, "--result-filename", "vllm.json"]

    def report(stdout, folder):
        said = json.loads((folder / "vllm.json").read_text())
        return {"ttft_p50_ms": said["median_ttft_ms"], "ttft_p99_ms": said["p99_ttft_ms"], "output_tok_s": said["output_throughput"]}
    return Client("vllm bench serve", "0.32.0", program, command, report, {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"})


def aiperf(peers):
    program = peers / "aiperf/bin/aiperf"

    def command(url, setting, folder):
        return [program, "profile", "-m", setting.model, "--tokenizer", peers / "tokenizer", "--url", url, "--endpoint-type", "chat",
                "--streaming", "--concurrency", setting.streams, "--request-count", setting.requests, "--isl", PROMPT_TOKENS,
                "--isl-stddev", 0, "--osl", setting.tokens, "--osl-stddev", 0, "--extra-inputs", "ignore_eos:true", "--ui", "none",
                "--artifact-dir", folder / "aiperf"]

    def report(stdout, folder):
        said = json.loads((folder / "aiperf/profile_export_aiperf.json").read_text())
        ttft = said["time_to_first_token"]
        return {"ttft_p50_ms": ttft["p50"], "ttft_p99_ms": ttft["p99"], "output_tok_s": said["output_token_throughput"]["avg"]}
    return Client("aiperf", "0.13.0", program, command, report, {"HF_HUB_OFFLINE": None})   # it refuses to run offline


def guidellm(peers):
    program = peers / "guidellm/bin/guidellm"

    def command(url, setting, folder):
        return [program, "run", "--backend", f"kind=openai_http,target={url},model={setting.model}", "--profile",
                f"kind=concurrent,streams={setting.streams}", "--constraint", f"kind=max_requests,count={setting.requests}",
                "--tokenizer", f"kind=hf_auto,model={peers / 'tokenizer'}", "--data",
                f"kind=synthetic_text,prompt_tokens={PROMPT_TOKENS},output_tokens={setting.tokens}",
                "--output", f"kind=json,path={folder / 'guidellm.json'}", "--disable-progress"]

    def report(stdout, folder):
        metrics = json.loads((folder / "guidellm.json").read_text())["benchmarks"][0]["metrics"]
        at = metrics["time_to_first_token_ms"]["successful"]["percentiles"]
        return {"ttft_p50_ms": at["p50"], "ttft_p99_ms": at["p99"], "output_tok_s": metrics["output_tokens_per_second"]["successful"]["mean"]}
    return Client("guidellm", "0.8.1", program, command, report, {"HF_HUB_OFFLINE": "1"})


def all_clients(build, peers, version):
    return [bare(build), hyperloom(build, version), vllm(peers), aiperf(peers), guidellm(peers)]


def environment_of(client):
    out = dict(os.environ)
    for name, value in client.environment.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = value
    return out
