"""The distances that recipes allow, and the features that they may name."""

import re

import pytest

from firth.recipes import RecipeError, load_recipe
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.run.validation import TaskValidation
from tests.recipes.bundles import write_bundle


@pytest.mark.parametrize(("option", "problem"), [
    ("validation.drift={whales/word: 0.1}", "no feature 'whales/word'; did you mean whales/words?"),
    ("validation.drift={whales/uri: 0.1}", "no feature 'whales/uri'"),
    ("validation.drift={whales/words: 1.5}", "1.5"),
    ("validation.skew={whales/words: 0.1}", "validation.skew: unknown key"),
])  # fmt: skip
def test_of_a_corpus(tmp_path, option, problem):
    (tmp_path / "a.txt").write_text("a")
    sources = f"sources=[{{kind: text, name: whales, paths: ['{tmp_path}/*.txt']}}]"
    assert load_recipe("demo", [sources, "validation.drift={whales/words: 0.1}"]).validation.compares
    with pytest.raises(RecipeError) as refused:
        load_recipe("demo", [sources, option])
    assert problem in str(refused.value)


@pytest.mark.parametrize(("validation", "problem"), [
    ({"skew": {"text/words": 0.1}}, "skew: name a file of requests"),
    ({"requests": "asked.csv"}, "requests: say what is compared with them"),
    ({"on_anomaly": "stopp"}, "stop"),
])  # fmt: skip
def test_skew_needs_requests(validation, problem):
    with pytest.raises(ValueError, match=problem):
        TaskValidation.of(validation)


@pytest.mark.parametrize(("option", "problem"), [
    ("drift={labels: 0.1}", "no feature 'labels'; did you mean label?"),
    ("drift={pair/words: 0.1}", "no feature 'pair/words'"),
    ("{skew: {label: 0.1}, requests: asked.csv}", "no feature 'label'"),
])  # fmt: skip
def test_of_a_task(tmp_path, option, problem):
    write_bundle(tmp_path / "base")
    (tmp_path / "a.csv").write_text("text,label\na,b\nc,d\n")
    (tmp_path / "asked.csv").write_text("text\na\n")
    given = option if option.startswith("{") else f"{{{option.replace('=', ': ', 1)}}}"
    given = given.replace("asked.csv", f"{tmp_path}/asked.csv")
    options = [
        f"base={tmp_path}/base",
        f"data={{kind: columns, train: {tmp_path}/a.csv}}",
        "task={kind: classification}",
        f"validation={given}",
    ]
    with pytest.raises(RecipeError) as refused:
        load_adapting_recipe(None, options)
    assert problem in str(refused.value)


@pytest.mark.parametrize(("line", "said"), [
    ("drift: {whales/word: 0.1}", "validation.drift.whales/word: .*; did you mean whales/words"),
    ("drift: {a word: 0.1}", "validation.drift.a word: .*; one of: whales/outcome"),
    ("shares: {langages: 0.1}", "validation.shares.langages: .*; did you mean languages"),
])  # fmt: skip
def test_an_unknown_name_is_told_with_its_line(tmp_path, line, said):
    path = tmp_path / "mine.yaml"
    source = "{kind: text, name: whales, paths: [a.txt]}"
    path.write_text(f"extends: demo\nsources: [{source}]\nvalidation:\n  {line}\n")
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    assert re.fullmatch(rf"{re.escape(str(path))}:4:\d+: {said}.*", str(caught.value))


def test_an_unknown_feature_of_requests_is_told_with_its_line(tmp_path):
    write_bundle(tmp_path / "base")
    (tmp_path / "a.csv").write_text("text,label\na,b\nc,d\n")
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"base: {tmp_path}/base\ntask: {{kind: classification}}\n"
        f"data: {{kind: columns, train: {tmp_path}/a.csv}}\n"
        f"validation:\n  requests: {tmp_path}/a.csv\n  skew: {{text/word: 0.1}}\n"
    )
    with pytest.raises(RecipeError) as caught:
        load_adapting_recipe(path)
    assert re.search(r":6:\d+: validation\.skew\.text/word: .*; did you mean text/words", str(caught.value))
