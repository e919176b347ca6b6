"""Takes a trained model from its bundle and compares sentences by its hidden states. Needs no TFX.

    python examples/hidden_states.py

The model is that of `train_and_serve.py`, which is trained first if that has not been done.
"""

import itertools
import json

import numpy as np
from train_and_serve import arguments, trained

from firth.models import load_model
from firth.tokenizers import load_tokenizer

SENTENCES = (
    "Return the mean of the array along the given axis.",
    "Compute the sum of the elements over an axis.",
    "Raises an error if the file does not exist.",
)


def features_of(ids: list[int]) -> dict[str, np.ndarray]:
    """Returns the features of one text that fills its row: int32 [1, length] each.

    Args:
        ids: The ids of the row, special tokens among them.
    """
    tokens = np.array([ids], "int32")
    return {
        "token_ids": tokens,
        "segment_ids": np.zeros_like(tokens),
        "position_ids": np.arange(len(ids), dtype="int32")[None],
        "document_ids": np.ones_like(tokens),
    }


def main() -> None:
    """Prints how similar each two sentences are."""
    given = arguments(__doc__)
    bundle = json.loads((trained(given.root, given.steps) / "run.json").read_text())["bundle"]
    model, tokenizer = load_model(bundle), load_tokenizer(f"{bundle}/tokenizer")
    vectors = {}
    for sentence in SENTENCES:
        ids = [tokenizer.cls_id, *tokenizer.tokenize(sentence).numpy().tolist(), tokenizer.sep_id]
        states = np.asarray(model.backbone(features_of(ids)))[0]
        print(f"{states.shape[0]} hidden states of width {states.shape[1]}: {sentence}")
        vectors[sentence] = states.mean(axis=0)
    for one, other in itertools.combinations(SENTENCES, 2):
        a, b = vectors[one], vectors[other]
        print(f"{a @ b / np.linalg.norm(a) / np.linalg.norm(b):.3f}  {one}  |  {other}")


if __name__ == "__main__":
    main()
