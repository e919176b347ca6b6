"""The lines of the page "Coming from ...", each typed once, in the order of the page."""

import ast
import contextlib
import inspect
import math
import pathlib
import re
import shutil

import keras
import keras_hub
import numpy as np
import pytest
import tensorflow as tf

import firth
from firth.language_model import LanguageModel
from tests.exported_model import RECIPE, first_signature_alone, make_served
from tests.generation.cases import eagerly, generator_of
from tests.interop.hugging_face.checkpoints import checkpoint

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "coming-from.md"
REVIEWS = [
    {"review": f"the {word} cat sat", "stars": "two" if number % 2 else "one"}
    for number, word in enumerate(["a", "of", "on", "mat", "word", "it", "you", "know"])
]

TAGGED = [{"tokens": ["the", each["stars"]], "ner_tags": ["O", "B-PER"]} for each in REVIEWS]


def lines() -> list[str]:
    """The cells of the right column."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [re.fullmatch(r"\| .* \| `(.+)` \|", row).group(1) for row in rows]


def is_expression(line: str) -> bool:
    try:
        compile(line, line, "eval")
    except SyntaxError:
        return False
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder whose runs are a few tiny models, with one of Hugging Face next to them."""
    folder = tmp_path_factory.mktemp("coming-from")
    served = make_served(RECIPE)
    bert = LanguageModel(served.recipe, served.tokenizer, served.model)
    for name in ("bert", "minilm"):
        bert.save(folder / "firth-runs" / name / "bundle")
    for name, case in (("gpt2", "causal_lm"), ("t5", "span_corruption")):
        made = generator_of(case)
        LanguageModel(made.recipe, made.tokenizer, made.model).save(folder / "firth-runs" / name / "bundle")
    (folder / "hf-folder").mkdir()
    checkpoint(folder / "hf-folder")
    return folder


# Lines that train or export once more, or use what such a line has made.
AGAIN = re.compile(r"tuned|again|tagger|more|\b(pretrain|export|evaluate|fit)\(|TrainingArg|learning_rate")


@pytest.fixture
def known(folder, tmp_path, monkeypatch):
    """The names that the lines use, in a copy of the folder."""
    monkeypatch.chdir(shutil.copytree(folder, tmp_path / "page"))
    monkeypatch.delenv("FIRTH_ROOT", raising=False)
    known = {"firth": firth, "keras": keras, "keras_hub": keras_hub, "math": math, "tf": tf}
    known |= {"reviews": REVIEWS, "tagged": TAGGED}
    known["texts"] = [
        f"the {word} cat sat on the mat of the {word}" for word in ["a", "of", "on", "mat", "word", "it"]
    ] * 20
    return known


def check_calls(line, known):
    """Raises an error for a call of a function that is not there, or does not take these arguments."""
    for call in ast.walk(ast.parse(line)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            names = {each.arg: None for each in call.keywords}
            inspect.signature(eval(ast.unparse(call.func), known)).bind(*call.args, **names)


@eagerly()
def test_lines_run_and_those_that_train_again_fit_their_functions(known):
    again = [line for line in lines() if AGAIN.search(line)]
    assert len(again) < 20 < len(lines()) - len(again)
    for line in lines():
        if line not in again:
            exec(line, known)
    known |= dict.fromkeys(("tuned", "again", "tagger", "more"), known["stars"])
    for line in again:
        check_calls(line, known)
    assert known["own"](next(iter(known["rows"]))).shape[-1] == 3
    assert "".join(known["pieces"]) == known["writer"].generate("the fox", max_new_tokens=5)
    assert known["stars"].predict(["the cat sat"])[0]["label"] in ("one", "two")
    with pytest.raises(TypeError, match="text_column"):
        check_calls("model.finetune(reviews, text_column='review')", known)


@pytest.mark.repeated
@eagerly()
def test_each_line_of_the_page_runs(known):
    found = {}
    for line in lines():
        code = compile(line, line, "eval" if is_expression(line) else "exec")
        exports = 'export("served")' in line
        with first_signature_alone(evaluates=False) if exports else contextlib.nullcontext():
            found[line] = eval(code, known)
    assert len(lines()) >= 40
    assert found['model.embed(["the cat", "a mat"])'].shape == (2, 8)
    np.testing.assert_allclose(
        found['model.embed("the cat")'], found['model.embed(["the cat", "a mat"])'][0], atol=1e-5
    )
    assert found['stars.predict(["the cat sat"])[0]["label"]'] in ("one", "two")
    assert known["own"](next(iter(known["rows"]))).shape[-1] == 3
    assert "".join(known["pieces"]) == found['writer.generate("the fox", max_new_tokens=5)']
    assert known["half"].dtype_policy.name == "mixed_bfloat16"
    # The model that was continued, and what goes out of it for transformers.
    assert known["more"].tokenizer.vocabulary_size() == known["model"].tokenizer.vocabulary_size()
    out, texts = firth.load("hf-out"), ["the [MASK] sat"]
    np.testing.assert_allclose(out.embed(texts), known["more"].embed(texts), atol=1e-5)
    assert known["small"].backbone.config.layers == 1
    # The adapter and the model that it was saved of answer alike, merged or not.
    one, other = (known[name].predict("the cat sat") for name in ("tuned", "again"))
    assert one["label"] == other["label"]
    np.testing.assert_allclose(one["probabilities"], other["probabilities"], atol=1e-5)
    # The saved bundle and the exported model answer as the model does.
    asked = (
        firth.load("stars").predict(["the cat sat"]),
        firth.serving.Client("served").ask("classify", ["the cat sat"]),
    )
    for each in asked:
        np.testing.assert_allclose(
            each[0]["probabilities"], known["stars"].predict("the cat sat")["probabilities"], atol=1e-6
        )
