"""Models adapted by the command to tasks that are answered with text, from a csv to a served model."""

import csv
import json
import pathlib
import random
import shutil

import pytest
from typer.testing import CliRunner

from firth import recipes
from firth.cli.main import app
from firth.models import save_model
from firth.recipes import load_recipe
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from tests.exported_model import RECIPE, VOCABULARY, make_served
from tests.reports.pages import words_of

WORDS = ("the", "word", "sat", "on", "mat", "keeps", "company", "you", "shall", "know", "cat")
OPTIONS = (
    *("--set=training.optimizer.learning_rate=0.01", "--set=sequences={length: 32, max_documents: 4}"),
    *("--set=epochs=6", "--set=examples_per_step=16", "--set=task.target_tokens=6"),
    "--set=evaluation.beats_constant=false",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a base that writes, and a csv of texts whose summary is their last word."""
    folder = tmp_path_factory.mktemp("finetune-text")
    model = load_recipe("t5_tiny", ["model.layers=1", "model.width=16"]).model
    objective = recipes.PrefixLM(architecture="encoder_decoder")
    recipe = RECIPE.model_copy(update={"model": model, "objective": objective})
    served = make_served(recipe)
    # Targets that the vocabulary cannot write are refused; two of the tasks write numbers.
    save_tokenizer(WordPieceTokenizer([*VOCABULARY, *"02345"]), folder / "tokenizer")
    save_model(served.model, recipe, folder / "tokenizer", folder / "firth-runs" / "base" / "bundle")
    chosen = random.Random(5)
    rows = []
    for _ in range(120):
        words = chosen.choices(WORDS, k=chosen.randint(2, 5))
        rows.append([" ".join(words), words[-1], len(words)])
    with open(folder / "texts.csv", "w", newline="") as file:
        csv.writer(file).writerows([["text", "last", "words"], *rows])
    shutil.copy(folder / "texts.csv", folder / "counts.csv")
    return folder


def run(folder, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(app, [*arguments])


@pytest.mark.repeated
@pytest.mark.parametrize(("kind", "label", "signature", "scores"), [
    ("text_to_text", "last", "generate", {"rouge_l", "exact_match"}),
    ("written_number", "words", "regress", {"pearson", "spearman"}),
])  # fmt: skip
def test_a_csv_becomes_a_served_model_that_writes(folder, kind, label, signature, scores):
    columns = ("--train", "texts.csv", "--label", label)
    result = run(folder, "finetune", "base", "--task", kind, *columns, *OPTIONS)
    assert result.exit_code == 0, result.output
    summary = json.loads((folder / "firth-runs" / f"base_{kind}" / "run.json").read_text())
    found = summary["evaluation"]["overall"]
    assert summary["blessed"] and scores | {"lm_perplexity", "text_perplexity"} <= found.keys()
    asked = run(folder, "predict", f"base_{kind}", signature, "the mat cat", "you shall", "--json")
    answers = [json.loads(line) for line in asked.stdout.splitlines()]
    assert len(answers) == 2, asked.output


@pytest.mark.repeated
def test_the_report_has_the_validity_of_free_texts_and_of_constrained_ones(folder):
    """A number of words has one digit, which is all that the base's vocabulary can write of JSON."""
    (folder / "count.json").write_text(json.dumps({"enum": [2, 3, 4, 5]}))
    named = ("--name=by_schema", "--set=task.schema=count.json", "--set=epochs=1")
    columns = ("--train", "texts.csv", "--label", "words")
    result = run(folder, "finetune", "base", "--task", "text_to_text", *columns, *OPTIONS, *named)
    assert result.exit_code == 0, result.output
    place = folder / "firth-runs" / "by_schema"
    found = json.loads((place / "run.json").read_text())["evaluation"]["overall"]
    assert 0.0 <= found["schema_valid"] < found["schema_valid_constrained"] == 1.0
    assert "schema_valid_constrained: 1.000 (1.000 to 1.000)" in " ".join(result.output.split())
    page = words_of((place / "report.html").read_text())
    assert " schema_valid_constrained 1 1 1 " in page and " schema_valid 0" in page
    asked = run(folder, "generate", "by_schema", "the mat cat", "--schema", "count.json", "--finish")
    assert asked.exit_code == 0 and asked.stdout.split()[-1] in ("2", "3", "4", "5"), asked.output


@pytest.mark.repeated
def test_a_writer_below_the_first_sentences_is_kept_and_not_pushed(folder):
    """The whole text has its last word in it: more than what a model writes that has learned nothing."""
    options = (*OPTIONS[:-1], "--set=epochs=1", "--name=below")
    columns = ("--train", "texts.csv", "--label", "last")
    result = run(folder, "finetune", "base", "--task", "text_to_text", *columns, *options)
    assert result.exit_code == 3, result.output
    summary = json.loads((folder / "firth-runs" / "below" / "run.json").read_text())
    assert summary["pushed"] is None and "Lead-3" in summary["reasons"][0]
    said = " ".join(result.output.split())
    assert "not blessed: rouge_l " in said and " of the constant answer Lead-3" in said
    assert f"kept: {summary['bundle']}" in said and pathlib.Path(summary["bundle"]).is_dir()


MIXTURE = """
name: mixed
base: base
data:
  kind: mixture
  temperature: 2
  parts:
    - {kind: columns, train: texts.csv, label: last}
    - {kind: columns, train: counts.csv, label: words}
task:
  kind: text_tasks
  tasks:
    texts: {kind: label_words, prefix: "you "}
    counts: {kind: written_number, prefix: "know ", step: 1.0}
"""


@pytest.mark.repeated
def test_one_model_learns_several_tasks_and_each_has_its_scores(folder):
    (folder / "mixed.yaml").write_text(MIXTURE)
    result = run(folder, "finetune", "--recipe", "mixed.yaml", *OPTIONS)
    assert result.exit_code == 0, result.output
    summary = json.loads((folder / "firth-runs" / "mixed" / "run.json").read_text())
    scores = {"texts.accuracy", "counts.pearson", "counts.spearman"}
    assert summary["blessed"] and scores <= summary["evaluation"]["overall"].keys()
    asked = run(folder, "predict", "mixed", "generate", "know the mat cat", "--json")
    assert json.loads(asked.stdout)["is_finished"] in (True, False), asked.output
    page = (folder / "firth-runs" / "mixed" / "report.html").read_text()
    assert "texts.accuracy" in page and "counts.pearson" in page


PROMPTS = f"{MIXTURE}method: {{kind: multitask_prompt_tuning, length: 2}}\n"


@pytest.mark.repeated
def test_a_prompt_of_several_tasks_is_learned_and_a_served_text_names_its_task(folder):
    (folder / "prompts.yaml").write_text(PROMPTS.replace("name: mixed", "name: prompts"))
    own_rows = "--set=sequences={length: 32, max_documents: 1}"
    result = run(folder, "finetune", "--recipe", "prompts.yaml", *OPTIONS, own_rows)
    assert result.exit_code == 0, result.output
    place = folder / "firth-runs" / "prompts"
    summary = json.loads((place / "run.json").read_text())
    scores = summary["evaluation"]["overall"].keys()
    assert summary["blessed"] and {"texts.accuracy", "counts.pearson"} <= scores
    text = "you the mat cat"

    def ask(*arguments):
        asked = run(folder, "predict", "prompts", "generate", *arguments, "--json")
        return [json.loads(line)["log_probability"] for line in asked.stdout.splitlines()]

    (of_texts,), (of_counts,) = (ask(text, "--task", name) for name in ("texts", "counts"))
    (of_none,) = ask(text)
    assert len({round(each, 4) for each in (of_texts, of_counts, of_none)}) == 3
    alone = [of_counts, of_texts, of_counts]
    named = [f"--task={name}" for name in ("counts", "texts", "counts")]
    assert ask(text, text, text, *named) == pytest.approx(alone, rel=1e-4)
    assert ask(text, text, "--task", "texts") == pytest.approx([of_texts] * 2, rel=1e-4)
    refused = run(folder, "predict", "prompts", "generate", text, "--task", "count")
    assert refused.exit_code and "there is no task 'count'; did you mean counts?" in refused.output
    (folder / "asked.csv").write_text(f"text,source\n{text},texts\n{text},counts\n")
    files = ("--input", "asked.csv", "--output", "answers.jsonl")
    # A record whose task has another prefix is asked about after it.
    (of_prompt,) = ask(f"know {text}", "--task", "counts")
    for columns, expected in ((("--column", "task=source"), [of_texts, of_prompt]), ((), [of_none] * 2)):
        assert run(folder, "predict", "prompts", "generate", *files, *columns).exit_code == 0
        lines = (folder / "answers.jsonl").read_text().splitlines()
        assert [json.loads(line)["log_probability"] for line in lines] == pytest.approx(expected, rel=1e-4)
