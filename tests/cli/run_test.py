"""`firth run` with a runner that gives prepared answers; the real one has tests of its own."""

import json
import pathlib

import pytest

from firth.pipelines import local
from firth.pipelines.run_errors import RunFolderError
from firth.training.termination import TrainingTerminated
from tests.cli.conftest import METRICS
from tests.recipes.bundles import write_bundle


@pytest.fixture
def runner(monkeypatch, tmp_path):
    """Replaces `local.run`: records its calls, and returns a result or raises an error of the test."""

    class Runner:
        calls = []  # noqa: RUF012
        error = None
        result = local.RunResult(
            run_dir=tmp_path / "firth-runs" / "demo",
            components=(),
            blessed=True,
            pushed=pathlib.Path("firth-runs/demo/serving/1"),
            served=pathlib.Path("firth-runs/demo/serving/1"),
            reasons=(),
            evaluation={"overall": METRICS},
            outputs={},
            log_path=tmp_path / "x.log",
            new_schema=None,
        )

        def __call__(self, recipe, root, options):
            self.calls.append((recipe, {"root": root, **vars(options)}))
            options.on_event({"kind": "component", "name": "Curator", "state": "running"})
            ended = {"state": "finished", "seconds": 1.0, "peak_bytes": 1e9}
            options.on_event({"kind": "component", "name": "Curator", **ended})
            if self.error is not None:
                raise self.error
            return self.result

    description = tmp_path / "firth-runs" / "demo" / "serving" / "1" / "assets.extra" / "firth.json"
    description.parent.mkdir(parents=True)
    example = {"text": "The [MASK] of the house."}
    signatures = {"fill_mask": {"example": example}}
    description.write_text(
        json.dumps({"signatures": signatures, "other_signatures": {}, "evaluation_sums": []})
    )
    monkeypatch.chdir(tmp_path)
    runner = Runner()
    runner.calls = []
    monkeypatch.setattr(local, "run", runner)
    return runner


def with_result(runner, **changes):
    import dataclasses

    runner.result = dataclasses.replace(runner.result, **changes)


def test_a_blessed_run(firth, runner):
    result = firth("run", "demo")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    assert "done Curator 1.0 s 1.0 GB" in lines
    assert "held-out masked LM perplexity: 120.5, against 840.2 of the unigram baseline" in lines
    assert "pushed: firth-runs/demo/serving/1" in lines
    assert f"report: {runner.result.run_dir}/report.html" in lines
    assert "firth predict demo fill-mask 'The [MASK] of the house.'" in lines
    ((recipe, options),) = runner.calls
    assert recipe.name == options["name"] == "demo"
    assert options["root"] == pathlib.Path("firth-runs") and options["verbose"] is False


REASONS = (
    "mlm_accuracy is 0.1, at least 0.2 is asked",
    "the serving validation: embed, one: [x] is not finite",
)


def test_the_least_time_of_a_long_training_is_said_first(firth, runner):
    lines = firth("run", "bert_large", "--set", "seed=1").output.splitlines()
    assert (
        lines[0].startswith("from its beginning, training takes about ")
        and "GFLOP/s of its matrix products" in lines[0]
    )
    assert "bert_large in firth-runs/bert_large" in lines[1]
    assert "from its beginning" not in firth("run", "bert_tiny", "--set", "training.steps=1").output


def test_the_command_that_shows_the_curves_in_tensorboard(firth, runner):
    with_result(runner, outputs={"Trainer": {"model_run": pathlib.Path("my runs/demo/model_run/9")}})
    assert "  tensorboard --logdir 'my runs/demo/model_run/9'\n" in firth("run", "demo").output


def test_a_run_that_is_not_blessed_says_why(firth, runner):
    with_result(runner, blessed=False, pushed=None, served=None, reasons=REASONS)
    result = firth("run", "demo")
    assert result.exit_code == 3
    assert f"not blessed: {'; '.join(REASONS)}\n" in result.output
    assert "pushed: nothing" in result.output and "firth predict" not in result.output
    assert "still served" not in result.output


def test_the_model_of_an_earlier_run_is_not_called_pushed(firth, runner):
    with_result(runner, blessed=False, pushed=None, reasons=REASONS)
    lines = firth("run", "demo").output.splitlines()
    assert "pushed: nothing" in lines
    assert "still served: firth-runs/demo/serving/1, which an earlier run pushed" in lines


def test_the_first_run_says_what_to_pin(firth, runner):
    with_result(runner, new_schema=pathlib.Path("firth-runs/demo/schema.pbtxt"))
    lines = firth("run", "demo").output.splitlines()
    assert "  source_schema: firth-runs/demo/schema.pbtxt" in lines


def test_a_run_without_thresholds_does_not_claim_to_have_kept_them(firth, runner):
    result = firth("run", "demo", "--set", "evaluation.thresholds=[]")
    assert "blessed: the model has finite metrics (no thresholds) and answered" in result.output


def test_a_failed_run_names_component_and_log(firth, runner):
    runner.error = local.RunFailedError("Trainer", "the loss is not finite", pathlib.Path("x.log"))
    result = firth("run", "demo")
    assert result.exit_code == 1
    assert result.stderr == "error: Trainer failed: the loss is not finite\nThe log is x.log.\n"


def test_a_corpus_that_cannot_be_built_is_the_users_to_mend(firth, runner):
    from firth.corpus import EmptyCorpusError

    runner.error = local.RunFailedError("Curator", "nothing is left", pathlib.Path("x.log"))
    runner.error.__cause__ = EmptyCorpusError("nothing is left")
    assert firth("run", "demo").exit_code == 2


def test_a_locked_run(firth, runner):
    runner.error = local.RunLockedError("demo is in use")
    result = firth("run", "demo")
    assert result.exit_code == 1 and result.stderr == "error: demo is in use\n"


def test_an_interrupted_run(firth, runner):
    runner.error = KeyboardInterrupt()
    result = firth("run", "demo")
    assert result.exit_code == 130 and "continues where this one stopped" in result.stderr


def test_a_training_ended_by_sigterm(firth, runner):
    runner.error = TrainingTerminated(7, 100, "checkpoints/step-0000000007")
    result = firth("run", "demo")
    assert result.exit_code == 143
    assert result.stderr.startswith("error: terminated after step 7 of 100; the checkpoint checkpoints/step")


def test_a_folder_that_cannot_be_used(firth, runner):
    runner.error = PermissionError(13, "Permission denied", "firth-runs")
    result = firth("run", "demo")
    assert (
        result.exit_code == 1 and "cannot be used" in result.stderr and "Permission denied" in result.stderr
    )


def test_ones_own_files_take_the_place_of_the_sources(firth, runner, tmp_path):
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.txt").write_text("Call me Ishmael.")
    (tmp_path / "n.jsonl").write_text("{}")
    own = ["--text", "books/*.txt", "--jsonl", "n.jsonl", "--text-key", "body"]
    result = firth(
        "run", "bert_mini", *own, "--name", "mine", "--root", "r", "--set", "sources.0.documents=blank_line"
    )
    assert result.exit_code == 0, result.output
    ((recipe, options),) = runner.calls
    text, jsonl = recipe.sources
    assert (text.kind, text.paths, text.documents) == ("text", (f"{tmp_path}/books/*.txt",), "blank_line")
    assert (jsonl.kind, jsonl.paths, jsonl.text_key) == ("jsonl", (f"{tmp_path}/n.jsonl",), "body")
    assert options["name"] == "mine" and options["root"] == pathlib.Path("r")
    assert "firth report demo --root r --open" in result.output


def test_files_that_the_shell_expanded_are_refused_with_a_hint(firth, runner):
    result = firth("run", "demo", "--text", "a.txt", "b.txt", "c.txt")
    assert result.exit_code == 2 and runner.calls == []
    assert "unexpected b.txt c.txt; quote patterns" in result.stderr


def test_keys_without_set_are_refused_with_the_command_that_was_meant(firth, runner):
    result = firth("run", "demo", "training.steps=30", "seed=2")
    assert result.exit_code == 2 and runner.calls == []
    assert "by --set, --set training.steps=30 --set seed=2" in result.stderr


def test_a_source_without_files_is_refused(firth, runner, tmp_path):
    (tmp_path / "folder.txt").mkdir()
    result = firth("run", "demo", "--text", "folder.txt", "--text", "gs://bucket/*.txt")
    assert result.exit_code == 2 and runner.calls == []
    assert (
        f": sources.0.paths.0: {tmp_path}/folder.txt is a folder; name files" in result.stderr
        and result.stderr.count("\n") == 1
    )
    result = firth("run", "demo", "--text", "foldr.txt")
    problem = f"{tmp_path}/foldr.txt matches no file; did you mean {tmp_path}/folder.txt?"
    assert result.stderr == f"error: --text foldr.txt: sources.0.paths.0: {problem}\n"


def test_the_options_of_the_folder_reach_the_runner(firth, runner):
    assert firth("run", "demo", "--name", "mine", "--reuse-folder").exit_code == 0
    ((_, options),) = runner.calls
    assert options["name"] == "mine" and options["reuse_folder"] is True


def test_a_folder_that_was_made_from_something_else(firth, runner):
    runner.error = RunFolderError("demo was made from something else")
    result = firth("run", "demo")
    assert result.exit_code == 2 and result.stderr == "error: demo was made from something else\n"


def test_a_text_key_without_json_lines_is_refused(firth, runner, tmp_path):
    (tmp_path / "a.txt").write_text("Call me Ishmael.")
    result = firth("run", "demo", "--text", "a.txt", "--text-key", "body")
    assert result.exit_code == 2 and "give --jsonl too" in result.stderr and runner.calls == []


def test_an_unknown_recipe(firth, runner):
    result = firth("run", "demmo")
    assert result.exit_code == 2 and "did you mean demo?" in result.stderr


def test_a_run_goes_on_from_a_model_by_its_name(firth, runner, tmp_path):
    write_bundle(tmp_path / "elsewhere" / "minilm" / "bundle")
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    options = ("--base", "minilm", "--text", "a.txt", "--text", "b.txt", "--root", "elsewhere")
    start = {"bundle": "elsewhere/minilm/bundle", "optimizer": "taken", "fresh_layers": ["heads/pooler"]}
    (tmp_path / "start.json").write_text(json.dumps(start))
    with_result(runner, outputs={"Trainer": {"model_run": tmp_path}})
    result = firth("run", *options)
    assert result.exit_code == 0, result.output
    assert "went on from elsewhere/minilm/bundle; made fresh: heads/pooler" in result.output
    ((recipe, said),) = runner.calls
    assert recipe.base.bundle == str(tmp_path / "elsewhere" / "minilm" / "bundle")
    assert recipe.name == said["name"] == "bert_tiny_continued"
    assert firth("run", "demo", *options).exit_code == 0 and runner.calls[-1][0].name == "demo"
    refused = firth("run", "--base", "minlm", *options[2:])
    assert refused.exit_code == 2
    assert "--base minlm: base: no run or imported model" in " ".join(refused.output.split())
    assert "did you mean minilm?" in refused.output


def test_a_run_needs_a_recipe_or_a_base(firth, runner):
    result = firth("run", "--text", "a.txt")
    assert result.exit_code == 2 and "or the model to continue from with --base" in result.output
