"""Writes what transformers takes where a configuration leaves a key out, for each family that comes in.

It runs in the environment of tests/models/golden/make_transformers_golden.py:

    build/transformers/bin/python tests/interop/hugging_face/golden/make_defaults_golden.py
"""

import json
import pathlib

import transformers

OUTPUT = pathlib.Path(__file__).with_name("defaults.json")
MODEL_TYPES = (
    "bert",
    "distilbert",
    "roberta",
    "albert",
    "electra",
    "deberta-v2",
    "xlnet",
    "gpt2",
    "openai-gpt",
    "llama",
    "qwen3",
    "t5",
    "bart",
)
# Keys of files, of generation and of tasks, not of what is computed.
LEFT_OUT = ("transformers_version", "architectures", "id2label", "label2id", "_name_or_path", "dtype")


def main() -> None:
    found = {}
    for model_type in MODEL_TYPES:
        config = transformers.AutoConfig.for_model(model_type).to_dict()
        found[model_type] = {key: value for key, value in sorted(config.items()) if key not in LEFT_OUT}
    content = {"transformers": transformers.__version__, "defaults": found}
    OUTPUT.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
