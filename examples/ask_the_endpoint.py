"""Asks a served model as a server does: with TensorFlow and tensorflow-text, and nothing of firth.

    python examples/ask_the_endpoint.py

The model is that of `train_and_serve.py`, which is trained first if that has not been done. TF Serving
takes the same requests, as JSON.
"""

import json

import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the tokenizer's ops)
from train_and_serve import arguments, trained

REQUESTS = (
    {
        "signature_name": "fill_mask",
        "inputs": {"text": ["Returns the [MASK] of the array."]},
    },
    {"signature_name": "embed", "inputs": {"text": ["The mean of an array."]}},
)


def answer(model, request: dict) -> dict[str, list]:
    """Returns the answer of a signature to a request of TF Serving's REST interface.

    Args:
        model: The loaded SavedModel.
        request: The signature's name, and its inputs as lists.
    """
    inputs = {name: tf.constant(values) for name, values in request["inputs"].items()}
    outputs = model.signatures[request["signature_name"]](**inputs)
    return {name: value.numpy().tolist() for name, value in outputs.items()}


def main() -> None:
    """Prints the requests, and the answers."""
    given = arguments(__doc__)
    newest = max((trained(given.root, given.steps) / "serving").iterdir(), key=lambda path: int(path.name))
    model = tf.saved_model.load(str(newest))
    for request in REQUESTS:
        print(json.dumps(request))
        answered = answer(model, request)
        for name, values in answered.items():
            print(f"  {name}: {str(values)[:100]}")


if __name__ == "__main__":
    main()
