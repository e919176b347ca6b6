"""`firth show` names the values that come from a base, and prints a recipe."""

import re

from firth.recipes import load_recipe
from firth.recipes.counting import parameter_counts
from firth.recipes.reading.adapting import load_adapting_recipe
from tests.recipes.bundles import write_bundle


def test_what_comes_from_a_base_is_said_and_written_out(firth, tmp_path):
    write_bundle(tmp_path / "runs" / "minilm" / "bundle", "model.layers=3")
    result = firth("show", "bert_mini", "--base", "minilm", "--root", str(tmp_path / "runs"))
    assert result.exit_code == 0, result.output
    assert f"# base: {tmp_path}/runs/minilm/bundle" in result.output
    assert "# from it: tokenizer and model" in result.output
    assert "export.pooling unless" in result.stdout
    assert "training.steps: " in result.stderr and "is the preset's" in result.stderr
    (tmp_path / "shown.yaml").write_text(result.stdout)
    shown = load_recipe(tmp_path / "shown.yaml")
    assert (shown.model.layers, shown.training.steps) == (3, load_recipe("bert_mini").training.steps)
    assert "# base" not in firth("show", "bert_mini").output


TASK = """\
name: films
base: minilm
data: {kind: columns, train: films.csv}
task: {kind: classification}
method: {kind: head}
"""


def test_a_recipe_of_a_task_is_shown_with_what_its_method_trains(firth, tmp_path):
    write_bundle(tmp_path / "firth-runs" / "minilm" / "bundle", "model.layers=1")
    (tmp_path / "films.yaml").write_text(TASK)
    (tmp_path / "films.csv").write_text("text,label\na,1\nb,2\nc,3\n")
    result = firth("show", "films.yaml", "--set", "task.dropout=0.25")
    assert result.exit_code == 0, result.output
    width = load_recipe("bert_tiny").model.width
    assert f"# trained by method.kind: head: {width * width + width + 3 * width + 3:,} par" in result.stdout
    assert re.search(r"# memory in training: .*\n#   weights .*, gradients .*, moments ", result.stdout)
    assert (
        "# training: 3 epochs" in result.stdout and f"# base: {tmp_path}/firth-runs/minilm" in result.stdout
    )
    (tmp_path / "shown.yaml").write_text(result.stdout)
    shown = load_adapting_recipe(tmp_path / "shown.yaml")
    assert (shown.task.labels, shown.task.dropout) == (("1", "2", "3"), 0.25)
    assert firth("show", "shown.yaml").stdout == result.stdout
    (tmp_path / "films.csv").unlink()
    without = firth("show", "films.yaml")
    assert without.exit_code == 0 and "its data cannot be read" in without.stderr
    wrong = firth("show", "films.yaml", "--set", "task.kind=clasification")
    assert wrong.exit_code == 2 and "did you mean classification?" in wrong.stderr


def test_a_run_of_a_task_is_shown_with_its_scores_whole_and_clean(firth, make_run, tmp_path):
    write_bundle(tmp_path / "firth-runs" / "minilm" / "bundle", "model.layers=1")
    (tmp_path / "films.yaml").write_text(TASK)
    (tmp_path / "films.csv").write_text("text,label\na,1\nb,2\nc,3\n")
    step = {"step": "decontaminate", "action": "drop", "benchmarks": ["dev"], "found": 3}
    counts = {"records": 9, "found": 3, "too_short": 0, "not_searched": 0}
    summary = {
        "evaluation": {
            "overall": {"accuracy": 0.75, "example_count": 9.0},
            "subset=clean": {"accuracy": 0.5, "example_count": 6.0},
        },
        "contamination": {**counts, "corpora": [{"model": "mine", "steps": [step]}]},
    }
    folder = make_run("films", summary=summary)
    (folder / "recipe.yaml").write_text(firth("show", "films.yaml").stdout)
    shown = firth("show", "films").stdout
    assert (
        "# held-out accuracy: 0.750, whole: all 9 records\n# held-out accuracy: 0.500, clean: the 6 " in shown
    )
    assert "3 of 9 found by decontaminate of mine (dev; dropped from it)\n" in shown


def test_a_run_is_shown_by_its_name(firth, make_run):
    folder = make_run("mine", summary={"imported_from": "Hugging Face", "fresh": ["heads/pooler/bias"]})
    result = firth("show", "mine")
    counted = parameter_counts(load_recipe("demo"))["total"]
    assert result.exit_code == 0, result.output
    assert "# made fresh, and random until trained: heads/pooler/bias" in result.stdout
    assert f"# parameters: {counted:,}" in result.stdout and "imported (Hugging Face)" in result.stdout
    assert load_recipe(folder / "recipe.yaml").to_json() in recipe_json(result.stdout, folder)
    changed = firth("show", "mine", "--set", "seed=3")
    assert changed.exit_code == 2 and "nothing can be changed" in changed.stderr
    assert "no preset is named" in firth("show", "absent").stderr
    told = "no preset, and no run in firth-runs, is named 'mines'; did you mean mine?"
    assert told in firth("show", "mines").stderr


def recipe_json(text, folder):
    (folder / "shown.yaml").write_text(text)
    return load_recipe(folder / "shown.yaml").to_json()


def test_a_recipe_is_shown_on_an_accelerator(firth):
    result = firth("show", "gpt2_small", "--accelerator", "h100", "--set", "training.batch_size=8")
    assert result.exit_code == 0, result.output
    fits = r"# h100: about [\d.]+ GB fits in 80\.0 GB, and 1\.5 GB in the host's memory"
    assert re.search(fits, result.stdout)
    assert re.search(r"a step of the last stage about [\d.]+ s: products .* at 67 TFLOP/s", result.stdout)
    of_tpu = firth("show", "gpt2_small", "--accelerator", "tpu_v5e", "--set", "training.batch_size=8")
    assert re.search(r"# tpu_v5e: about .* in 16\.0 GB", of_tpu.stdout) and "at 197 TFLOP/s" in of_tpu.stdout
    large = firth("show", "gpt2_xl", "--accelerator", "l4")
    assert "does not fit in 24.0 GB" in large.stdout


def test_an_unknown_accelerator_is_refused_with_the_nearest(firth):
    result = firth("show", "bert_base", "--accelerator", "h10")
    assert result.exit_code == 2 and "unknown; did you mean h100?" in result.output
