"""Writes a small file for each family: a tiny random model of transformers, its inputs and its answers.

It runs in an environment of its own, so that the tests need no torch:

    python3.11 -m venv build/transformers
    build/transformers/bin/pip install torch==2.13.0 transformers==5.23.0
    build/transformers/bin/python tests/models/golden/make_transformers_golden.py [FAMILY ...]

A file holds `input/*`, `weight/*` (tied ones once), `hidden/*` (last hidden states), `loss/*` by the names
that losses have in recipes, and under `made_with` the versions and the configuration it was made with. A file
of a task holds `logits`, and `loss/after`, the loss after a step of plain descent.
"""

import argparse
import json
import pathlib
import platform

import numpy as np
import torch
import transformers
from transformers_families import decoders, electra, encoder_decoders, encoders, tasks, texts, xlnet
from transformers_families.family import Family

FOLDER = pathlib.Path(__file__).parent
MODULES = (encoders, electra, xlnet, decoders, encoder_decoders, tasks, texts)
FAMILIES = {name: family for module in MODULES for name, family in module.FAMILIES.items()}


def randomise(model: torch.nn.Module) -> None:
    """Makes biases and norms random too: fresh ones hide a mistaken copy."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_scale = name.endswith("weight") and any(part in name.lower() for part in ("norm", ".ln_"))
            parameter.copy_(torch.randn(parameter.shape) * 0.3 + is_scale)


def make(name: str, family: Family) -> None:
    model = family.model(family.config(**family.settings)).eval()
    randomise(model)
    inputs = family.inputs(np.random.default_rng(0))
    with torch.no_grad():
        answers = family.run(model, {key: torch.tensor(value) for key, value in inputs.items()})
    made_with = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": f"python tests/models/golden/make_transformers_golden.py {name}",
        "model": family.model.__name__,
        "config": family.settings,
    }
    output = FOLDER / f"{name}.npz"
    np.savez_compressed(
        output,
        made_with=json.dumps(made_with),
        **{f"input/{key}": value for key, value in inputs.items()},
        **{key: value.numpy() for key, value in answers.items()},
        **{f"weight/{key}": value.detach().numpy() for key, value in model.named_parameters()},
    )
    losses = {key: round(float(value), 3) for key, value in answers.items() if key.startswith("loss/")}
    print(f"{output}: {output.stat().st_size} bytes, {losses}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}; all if none"
    )
    for name in parser.parse_args().families or FAMILIES:
        make(name, FAMILIES[name])


if __name__ == "__main__":
    main()
