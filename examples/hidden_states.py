"""Opens a trained model and compares sentences by its hidden states. Needs no TFX.

    python examples/hidden_states.py

The model is that of `train_and_serve.py`, which is trained first if that has not been done.
"""

import itertools

import numpy as np
from train_and_serve import arguments, trained

import firth

SENTENCES = [
    "Return the mean of the array along the given axis.",
    "Compute the sum of the elements over an axis.",
    "Raises an error if the file does not exist.",
]


def main() -> None:
    """Prints the hidden states of a sentence, and how similar each two sentences are."""
    given = arguments(__doc__)
    model = firth.load(trained(given.root, given.steps))
    states = np.asarray(model.backbone(model.preprocessor(SENTENCES[:1])))[0]
    print(f"{states.shape[0]} hidden states of width {states.shape[1]}: {SENTENCES[0]}")
    vectors = model.embed(SENTENCES)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for one, other in itertools.combinations(range(len(SENTENCES)), 2):
        print(f"{unit[one] @ unit[other]:.3f}  {SENTENCES[one]}  |  {SENTENCES[other]}")


if __name__ == "__main__":
    main()
