"""One command, several seeds: a run for each, and what their scores are together."""

import json
import types

import pytest

from tests.recipes.bundles import write_bundle

# Accuracies by seed; the recipe's own is 10.
VALUES = {10: 0.5, 11: 0.75, 12: 0.7}


@pytest.fixture
def beam_args():
    """The options of Beam that runs were given, in their order."""
    return []


@pytest.fixture
def runs(tmp_path, monkeypatch, beam_args):
    """The folders and recipes that pipelines were asked to run, without running them."""
    write_bundle(tmp_path / "runs" / "base" / "bundle")
    (tmp_path / "a.csv").write_text("text,label\na film,good\na bore,bad\nthe end,good\nno end,bad\n")
    monkeypatch.chdir(tmp_path)
    asked = {}

    def execute(run, recipe, root, options):
        name = options.name
        asked[name] = recipe
        beam_args.append(options.beam_pipeline_args)
        accuracy = VALUES[recipe.seed]
        evaluation = {"overall": {"accuracy": accuracy, "example_count": 9.0}}
        if "clean" in name:
            evaluation["subset=clean"] = {"accuracy": accuracy - 0.5, "example_count": 4.0}
        return types.SimpleNamespace(
            run_dir=root / name, evaluation=evaluation, blessed=recipe.seed != 10, reasons=("too low",)
        )

    monkeypatch.setattr("firth.cli.execution.execute", execute)
    # `tests/cli/execution_own_process_test.py` shows that the process is another.
    monkeypatch.setattr(
        "firth.cli.finetuning.finetune.run_in_own_process", lambda work, *arguments: work(*arguments)
    )
    return asked


def of_seeds(firth, count, *more):
    base = ("--task", "classification", "--train", "a.csv", "--set", "seed=10", "--root", "runs", *more)
    return firth("finetune", "base", *base, "--seeds", str(count))


def test_each_seed_is_a_run_of_its_own(firth, runs, tmp_path):
    result = of_seeds(firth, 3)
    assert result.exit_code == 0, result.output
    assert {name: recipe.seed for name, recipe in runs.items()} == {
        f"base_classification_seed{seed}": seed for seed in VALUES
    }
    same = {recipe.model_copy(update={"seed": 0, "name": "x"}).to_json() for recipe in runs.values()}
    assert len(same) == 1 and {recipe.name for recipe in runs.values()} == set(runs)
    assert (
        "held-out accuracy over 3 seeds: median 0.700, standard deviation 0.132, best 0.750 (seed 11)"
        in result.output
    )
    assert "seed 10: accuracy 0.500, not blessed: too low" in result.output
    assert "firth report base_classification_seed11" in result.output
    kept = json.loads((tmp_path / "runs" / "base_classification_seeds" / "seeds.json").read_text())
    assert kept["scores"]["accuracy"]["values"] == {str(seed): value for seed, value in VALUES.items()}
    assert kept["scores"]["accuracy"]["median"] == 0.7


def test_scores_of_clean_records_stand_after_those_of_all(firth, runs, tmp_path):
    result = of_seeds(firth, 3, "--name", "clean")
    lines = result.output.splitlines()
    assert [line.partition(": ")[2] for line in lines if line.startswith("held-out")] == [
        "median 0.700, standard deviation 0.132, best 0.750 (seed 11)",
        "median 0.200, standard deviation 0.132, best 0.250 (seed 11), "
        "clean: the 4 records not found in the corpus of the base",
    ]
    kept = json.loads((tmp_path / "runs" / "clean_seeds" / "seeds.json").read_text())
    assert kept["clean"]["accuracy"]["best"] == 0.25


def test_the_status_says_that_nothing_is_blessed(firth, runs, monkeypatch):
    assert of_seeds(firth, 2, "--name", "first").exit_code == 0
    # Without scores, as of a task whose records were all left out, no run is the best one.
    monkeypatch.setattr("firth.reports.task_scores.scores_of_seeds", lambda *arguments: [])
    assert of_seeds(firth, 2, "--name", "some").exit_code == 0
    monkeypatch.setattr("firth.cli.finetuning.finetune.range", lambda first, end: [10], raising=False)
    result = of_seeds(firth, 2, "--name", "none")
    assert result.exit_code == 3 and "seed 10: , not blessed: too low" in result.output


def test_one_seed_is_a_plain_run(firth, runs, monkeypatch):
    monkeypatch.setattr("firth.cli.execution.finish", lambda *arguments: None)
    assert of_seeds(firth, 1, "--name", "one").exit_code == 0
    assert list(runs) == ["one"]


def test_options_of_beam_go_to_each_run(firth, runs, beam_args, monkeypatch):
    monkeypatch.setattr("firth.cli.execution.finish", lambda *arguments: None)
    of_seeds(firth, 2, "--beam-arg=--runner=FlinkRunner")
    of_seeds(firth, 1, "--beam-arg=--runner=FlinkRunner")
    assert beam_args == 3 * [("--runner=FlinkRunner",)]
