"""A large model comes in and goes out tensor by tensor."""

import tracemalloc

import numpy as np

from firth.interop.hugging_face.exporting import Outgoing
from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.importing import incoming_weights
from firth.models.builders import build_outline
from firth.models.bundle import specs_of, weights_by_path
from firth.recipes import load_recipe
from firth.storage.tensor_files import spec_of
from tests.interop.hugging_face.checkpoints import opened

BERT = FAMILIES["bert"]


def test_no_more_than_a_few_tensors_are_held_at_once(tmp_path):
    """NumPy tells its arrays to tracemalloc."""
    recipe = load_recipe("bert_tiny", ["model.layers=12", "tokenizer.vocabulary_size=100"])
    specs = specs_of(weights_by_path(build_outline(recipe)))
    rules = BERT.rules(recipe.model, recipe.goal)
    ours = {path: np.full(spec.shape, 0.5, "float32") for path, spec in specs.items()}
    theirs = {}
    for rule in rules:
        theirs |= dict(zip(rule.theirs, rule.write(ours[rule.ours])))
    # A tied table is compared with its copy, and not held twice.
    theirs["cls.predictions.decoder.weight"] = theirs["bert.embeddings.word_embeddings.weight"]
    tensors = opened(tmp_path / "tensors", theirs)
    total, largest = (of(each.nbytes for each in ours.values()) for of in (sum, max))
    del ours, theirs
    assert total > 20 * largest

    def peak(work) -> float:
        """The most that is held, in largest tensors."""
        tracemalloc.start()
        work()
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return held / largest

    def bring_in():
        incoming = incoming_weights(specs, recipe, BERT, tensors)
        assert sum(weight.nbytes for _, weight in incoming.weights) == total

    assert peak(bring_in) < 6

    class Weights(dict):
        def __getitem__(self, path):
            return np.full(specs[path].shape, 0.5, "float32")

    def bring_out():
        outgoing = Outgoing(rules, Weights(specs), {path: ["F16"] for path in specs})
        for name, tensor in outgoing.tensors(list(outgoing.specs)):
            assert spec_of(tensor) == outgoing.specs[name]
            del tensor

    assert peak(bring_out) < 6
