"""A model adapted by the command to answer questions by parts of texts, from a file to answers."""

import json
import random

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.models.bundle import read_recipe
from tests.pipelines.finetune_test import WORDS, finetune, folder  # noqa: F401

KEYS = ("question", "context", "answers")


def question(chosen, number):
    """Returns a question for the word after `sat`; every third text does not have it."""
    words = [chosen.choice(WORDS[3:]) for _ in range(chosen.randint(3, 40))]
    answers = []
    if number % 3:
        place = chosen.randrange(len(words) + 1)
        words[place:place] = ["sat", "mat"]
        start = len(" ".join([*words[:place], ""])) + len("sat ")
        answers = [{"text": "mat", "answer_start": start}]
    return dict(zip(KEYS, ("sat", " ".join(words), answers)))


@pytest.mark.repeated
def test_questions_of_a_file_become_a_model_that_answers(folder):  # noqa: F811
    chosen = random.Random(4)
    rows = [question(chosen, number) for number in range(90)]
    wrong = dict(zip(KEYS, ("sat", "the cat", [{"text": "cat", "answer_start": 3}])))
    lines = [json.dumps(each) for each in (*rows, wrong)]
    (folder / "questions.jsonl").write_text("\n".join(lines))
    columns = ("--text", "question", "--pair", "context", "--set=task.unanswerable=true")
    result = finetune(
        folder,
        *("--task", "span", "--train", "questions.jsonl", *columns, "--set=task.stride=8"),
        *(
            "--set=epochs=2",
            "--set=evaluation.beats_constant=false",
            "--set=sequences={length: 32, max_documents: 4}",
        ),
    )
    assert result.exit_code == 0, result.output
    assert ", 1 rejected" in result.output
    summary = json.loads((folder / "firth-runs" / "base_span" / "run.json").read_text())
    scores = summary["evaluation"]["overall"]
    for name in ("squad_exact_match", "squad_f1", "squad_exact_match_held_out", "squad_f1_held_out"):
        assert 0.0 <= scores[f"{name}_low"] <= scores[name] <= scores[f"{name}_high"] <= 100.0
    assert isinstance(read_recipe(summary["bundle"]).task.threshold, float)
    context = "you know the cat sat mat by company " * 5
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        asked = CliRunner().invoke(
            app, ["predict", "base_span", "answer", "sat", "--pair", context, "--json"]
        )
    told = json.loads(asked.stdout)
    assert context[told["start"] : told["end"]] == told["answer"], asked.output
