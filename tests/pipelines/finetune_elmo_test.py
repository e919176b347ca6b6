"""ELMo's layers as features of a tagger, from files to a served model."""

import json
import pathlib

import numpy as np
import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.models import build_model, load_model, save_model
from firth.models.bundle import weights_by_path
from firth.recipes import Evaluation, Export, Recipe, Sequences, TextSource
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.tokenizers.tokenizer import WordTokenizerConfig
from firth.recipes.training.training import Training
from firth.scores.entities import entity_f1
from firth.tasks.readers.formats import read_file
from firth.tokenizers import save_tokenizer
from firth.tokenizers.word import WordTokenizer
from tests.tasks.word_offsets_words_forms_test import CHARACTERS, MODEL, WORDS

SENTENCES = (("the cat sat", "O B-person O"), ("a mat sat on the cat", "O O O O O B-person"))


@pytest.mark.repeated
def test_tags_are_learned_on_layers_that_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = Recipe(
        name="base",
        sources=(TextSource(kind="text", paths=("unread.txt",)),),
        tokenizer=WordTokenizerConfig(vocabulary_size=20, max_characters=CHARACTERS),
        sequences=Sequences(length=20),
        objective=BidirectionalLM(negatives=None),
        model=MODEL,
        training=Training(steps=1, batch_size=2),
        evaluation=Evaluation(thresholds=()),
        export=Export(pooling="mean"),
    )
    save_tokenizer(WordTokenizer(WORDS, max_characters=CHARACTERS), tmp_path / "tokenizer")
    save_model(build_model(recipe), recipe, tmp_path / "tokenizer", tmp_path / "firth-runs/base/bundle")
    data = tmp_path / "data"
    data.mkdir()
    for name, times in (("wnut17train.conll", 40), ("emerging.dev.conll", 4)):
        lines = [
            line
            for number in range(times)
            for words, tags in SENTENCES
            for line in (*map("\t".join, zip(f"{words} {number}".split(), f"{tags} O".split())), "")
        ]
        (data / name).write_text("\n".join([*lines, ""]))
    options = (
        "--set=sequences={length: 24, max_documents: 3}",
        "--set=epochs=8",
        "--set=examples_per_step=8",
        "--set=training.optimizer.learning_rate=0.03",
        "--set=task.form={cells: 8, output_mix: true}",
        "--set=evaluation.thresholds=[{metric: entity_f1, lower_bound: 0.9}]",
    )
    said = CliRunner().invoke(app, ["finetune", "base", "--task", "wnut17", "--data", "data", *options])
    assert said.exit_code == 0, said.output
    summary = json.loads((tmp_path / "firth-runs/base_wnut17/run.json").read_text())
    assert summary["blessed"] and summary["evaluation"]["overall"]["entity_f1"] >= 0.9
    asked = CliRunner().invoke(app, ["predict", "base_wnut17", "tag", "the cat sat", "--json"])
    answer = json.loads(asked.stdout.splitlines()[0])
    assert [word["tag"] for word in answer["words"]] == ["O", "B-person", "O"], asked.output
    # Each word of the held-out file has an answer, and their score is that of the run.
    files = ("--input", "data/emerging.dev.conll", "--output", "tags.jsonl")
    of_file = CliRunner().invoke(app, ["predict", "base_wnut17", "tag", *files])
    assert of_file.exit_code == 0, of_file.output
    given = [
        [word["tag"] for word in json.loads(line)["words"]]
        for line in pathlib.Path("tags.jsonl").read_text().splitlines()
    ]
    right = [list(each.label) for each in read_file("wnut17", "data/emerging.dev.conll").records]
    expected = summary["evaluation"]["overall"]["entity_f1"]
    assert entity_f1(right, given) == pytest.approx(expected, abs=1e-6)
    assert f"as served: entity_f1: {expected:.6f} by tag_words, {expected:.6f} by rows" in said.output
    moved, base = (
        weights_by_path(load_model(path)) for path in (summary["bundle"], "firth-runs/base/bundle")
    )
    for name in moved.keys() & base.keys():
        np.testing.assert_array_equal(moved[name], base[name])
