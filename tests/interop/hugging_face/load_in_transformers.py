"""Loads exported models in transformers and compares hidden states with ours.

It is run by hand, in two environments:

    python -m tests.interop.hugging_face.load_in_transformers write build/exported
    build/transformers/bin/python -m tests.interop.hugging_face.load_in_transformers read build/exported

The second one is that of tests/models/golden/make_transformers_golden.py. What goes out are the golden
files of all families, which came in first, and tiny models of the presets.
"""

import argparse
import json
import pathlib

import numpy as np

ATOL = 1e-4
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "decoder_input_ids", "decoder_attention_mask")
PRESETS = ("bert", "roberta", "albert", "electra", "deberta_v3", "xlnet", "spanbert", "unilm", "gpt_1")
PRESETS += ("gpt2", "gpt3", "llama", "t5", "t5_1_1", "bart")


def write(root: pathlib.Path) -> None:
    from firth.interop.hugging_face import export_model, import_model
    from tests.interop.hugging_face.checkpoints import NAMES, checkpoint
    from tests.interop.hugging_face.exporting_test import bundle
    from tests.models import references

    for name in NAMES:
        folder = root / name
        (folder / "in").mkdir(parents=True)
        import_model(checkpoint(folder / "in", name=name), folder / "bundle", name)
        export_model(folder / "bundle", folder / "out")
        golden = references.read_golden(name)
        given = {key: golden[f"input/{key}"] for key in INPUTS if f"input/{key}" in golden}
        # ELECTRA's states are those of the discriminator.
        given["input_ids"] = golden.get("input/replaced_ids", given["input_ids"])
        np.savez(folder / "ours.npz", last=golden["hidden/last"], **given)
    for preset in (f"{each}_tiny" for each in PRESETS):
        folder = root / preset
        folder.mkdir(parents=True)
        path = bundle(folder, preset)
        export_model(path, folder / "out")
        np.savez(folder / "ours.npz", **answers(path))


def answers(path: str) -> dict[str, np.ndarray]:
    """Ids of two texts, the second one shorter, and our last hidden states."""
    import keras

    from firth.models import load_model
    from firth.models.bundle import read_recipe

    model = load_model(path, "float32")
    ids = np.random.default_rng(0).integers(6, 30, (2, 9))
    mask = np.arange(9) < np.array([[9], [6]])
    ids = np.where(mask, ids, 0)
    features = _features("", ids, mask)
    given = {"input_ids": ids, "attention_mask": mask.astype("int64")}
    if read_recipe(path).model.has_decoder:
        features |= _features("decoder_", ids, mask)
        given |= {f"decoder_{key}": value for key, value in given.items()}
    states = model.backbone(features)
    states = states["decoder"] if isinstance(states, dict) else states
    return {**given, "last": keras.ops.convert_to_numpy(states)}


def _features(prefix: str, ids, mask) -> dict[str, np.ndarray]:
    positions = np.tile(np.arange(ids.shape[1]), (len(ids), 1))
    values = {"token_ids": ids, "position_ids": positions, "segment_ids": 0 * ids, "document_ids": mask}
    return {f"{prefix}{name}": np.asarray(value, "int32") for name, value in values.items()}


def read(root: pathlib.Path) -> None:
    import torch
    import transformers

    wrong = []
    for folder in sorted(path for path in root.iterdir() if (path / "out").exists()):
        config = json.loads((folder / "out" / "config.json").read_text())
        with np.load(folder / "ours.npz") as arrays:
            ours = dict(arrays)
        last = ours.pop("last")
        kind = getattr(transformers, config["architectures"][0])
        whole, said = kind.from_pretrained(folder / "out", output_loading_info=True)
        base = transformers.AutoModel.from_pretrained(folder / "out").eval()
        transformers.AutoTokenizer.from_pretrained(folder / "out")
        with torch.no_grad():
            found = base(
                **{name: torch.tensor(value) for name, value in ours.items()}
            ).last_hidden_state.numpy()
        real = ours.get("decoder_attention_mask", ours["attention_mask"]) > 0
        difference = float(np.abs(found[real] - last[real]).max())
        keys = {name: sorted(said[name]) for name in ("missing_keys", "unexpected_keys", "mismatched_keys")}
        print(f"{folder.name}: {type(whole).__name__}, {difference:.1e}, {keys}")
        wrong += [folder.name] if difference > ATOL or any(keys.values()) else []
    raise SystemExit(f"wrong: {', '.join(wrong)}" if wrong else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("write", "read"))
    parser.add_argument("root", type=pathlib.Path)
    given = parser.parse_args()
    {"write": write, "read": read}[given.step](given.root)


if __name__ == "__main__":
    main()
