"""Writes a small file for each bottleneck adapter: random weights as `adapters` has them, and hidden states.

The base models are those of tests/models/golden. `adapters` 1.3.0 wants an older transformers than the other
golden files, so it has an environment of its own, and the tests need neither:

    python3.11 -m venv build/adapters
    build/adapters/bin/pip install adapters==1.3.0 transformers==4.57.6 torch
    build/adapters/bin/python -m tests.models.additions.golden.make_adapters_golden [NAME ...]

A file holds the versions (`made_with`), the weights by their names there (`weight/...`) and the last hidden
states (`hidden/last`) for the base's golden inputs.
"""

import argparse
import json
import pathlib

import adapters
import numpy as np
import torch
import transformers

from tests.models.golden.transformers_families.loading import last_states, load

HERE = pathlib.Path(__file__).parent
MODELS = {
    "bert": (transformers.BertModel, transformers.BertConfig, "bert."),
    "gpt2": (transformers.GPT2Model, transformers.GPT2Config, "transformer."),
}
CONFIGS = {
    "houlsby": adapters.DoubleSeqBnConfig(reduction_factor=4),
    "pfeiffer": adapters.SeqBnConfig(reduction_factor=4),
}
NAMES = [f"{base}_{method}" for base in MODELS for method in CONFIGS]


def make(name: str) -> None:
    base, method = name.split("_")
    model, golden = load(base, *MODELS[base])
    before = last_states(model, golden)
    adapters.init(model)
    model.add_adapter("made", config=CONFIGS[method])
    model.set_active_adapters("made")
    model.eval()
    torch.manual_seed(0)
    weights = {}
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if ".adapters.made." in key:
                parameter.copy_(torch.randn(parameter.shape) * 0.3)
                weights[f"weight/{key}"] = parameter.numpy()
    found = last_states(model, golden)
    made_with = {
        "adapters": adapters.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": f"python -m tests.models.additions.golden.make_adapters_golden {name}",
        "base": base,
        "method": method,
    }
    path = HERE / f"{name}.npz"
    np.savez_compressed(path, made_with=json.dumps(made_with), **weights, **{"hidden/last": found})
    print(f"{path}: {path.stat().st_size} bytes, differs from its base by {np.abs(found - before).max():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none")
    for name in parser.parse_args().names or NAMES:
        make(name)


if __name__ == "__main__":
    main()
