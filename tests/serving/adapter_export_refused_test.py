"""Several adapters in one SavedModel: what is refused, for each task as its answers and inputs allow."""

import pytest

from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tuning.adding import LoRA
from firth.serving.adapter_export import export_adapters
from firth.tokenizers import WordPieceTokenizer
from tests.training.artifacts import VOCABULARY
from tests.tuning.drawn import drawn
from tests.tuning.runs import adapting

TAGS = {"kind": "tagging", "labels": ["O", "B"]}
CHOICE = {"kind": "choice"}
WRITTEN = {"kind": "text_to_text", "form": {"kind": "prefix"}, "target_tokens": 4}
WORDS = {"kind": "label_words", "labels": ["0", "1"], "words": ["w1", "w2"]}


def mixed(*sources: str) -> dict:
    """Returns the parts of a recipe for several tasks, by the formats that their data are published in."""
    parts = [{"kind": "published", "format": each, "folder": "glue"} for each in sources]
    task = {**WRITTEN, "kind": "text_tasks", "tasks": dict.fromkeys(sources, WORDS)}
    return {
        "data": {"kind": "mixture", "parts": parts},
        "task": task,
        "method": {"kind": "multitask_prompt_tuning", "length": 2, "tasks": len(sources)},
    }


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    return {family: adapting(family, folder / family, LoRA(rank=2)) for family in ("bert", "gpt")}


def export(bases, family, said, folder):
    """Exports an adapter for each of what recipes say, `one` and `other`."""
    base = bases[family].model_dump()
    one_text = {"sequences": {**base["sequences"], "max_documents": 1}}
    recipes = [AdaptingRecipe.of({**base, **one_text, **each}) for each in said]
    adapters = {name: (drawn(recipe), recipe) for name, recipe in zip(("one", "other"), recipes)}
    export_adapters(adapters, WordPieceTokenizer(VOCABULARY), str(folder / "made"))


@pytest.mark.parametrize(("family", "said", "inputs"), [
    (
        "bert",
        ({"task": CHOICE}, {"task": {**CHOICE, "question": True}}),
        ("choose", "text, choices", "text, question, choices"),
    ),
    pytest.param(
        "gpt",
        ({"task": WRITTEN}, {"task": {**WRITTEN, "pair": True}}),
        ("generate", "text", "text, pair"),
        marks=pytest.mark.repeated,
    ),
    ("gpt", ({"task": WRITTEN}, mixed("cola", "sst2")), ("generate", "text", r"text, task \(cola or sst2\)")),
    pytest.param(
        "gpt",
        (mixed("sst2", "cola"), mixed("cola", "rte")),
        ("generate", r"text, task \(sst2 or cola\)", r"text, task \(cola or rte\)"),
        marks=pytest.mark.repeated,
    ),
], ids=["question", "pair", "task", "tasks"])  # fmt: skip
def test_adapters_that_are_asked_with_other_inputs_are_named_with_them(bases, tmp_path, family, said, inputs):
    signature, one, other = inputs
    expected = rf"one .*{signature} .* {one}, .*other .* {other};"
    with pytest.raises(ValueError, match=expected):
        export(bases, family, said, tmp_path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(("family", "said", "message"), [
    ("bert", {"task": TAGS}, "words .*one"),
    ("bert", {"export": {"weights": "int8"}}, r"one: export\.weights: int8.* float32"),
], ids=["tag", "int8"])  # fmt: skip
def test_a_run_that_is_served_alone_is_refused_among_several(bases, tmp_path, family, said, message):
    with pytest.raises(ValueError, match=message):
        export(bases, family, (said, said), tmp_path)
    assert not (tmp_path / "made").exists()
