"""Pre-trains a tiny BERT on texts in Python, asks it, fine-tunes it and asks that. Needs no TFX.

python examples/front_door.py
"""

import email
import inspect
import json
import unittest

import firth

SHAPE = {
    "tokenizer.vocabulary_size": 800,
    "sequences.length": 64,
    "training.batch_size": 8,
    "model.layers": 2,
}


def docstrings(*packages) -> list[str]:
    """Returns the docstrings of the functions and classes of some packages."""
    members = (member for package in packages for _, member in inspect.getmembers(package))
    found = (inspect.getdoc(each) for each in members if inspect.isclass(each) or inspect.isroutine(each))
    return sorted({part for doc in found if doc for part in doc.split("\n\n") if len(part) > 60})


def main() -> None:
    """Trains twice and prints the answers."""
    texts = docstrings(json, email, unittest, inspect)
    model = firth.pretrain("bert_tiny", texts=texts, steps=60, overrides=SHAPE)
    print(model.fill_mask("Return the [MASK] of the object.")[0])
    records = [{"text": text, "label": "returns" if text.startswith("Return") else "other"} for text in texts]
    sorter = model.finetune(records, epochs=30, overrides={"training.optimizer.learning_rate": 1e-3})
    for text in ("A class whose instances are single test cases.", "Return the name of the header."):
        answer = sorter.predict(text)
        print(f"{answer['label']} {answer['probability']:.2f}  {text}")


if __name__ == "__main__":
    main()
