"""Wrong columns of `predictions` are reported before anything is trained."""

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.serving.batch.column_check import check_predictions, predictions_problem
from firth.tasks.task_options import with_labels
from tests.recipes.bundles import write_bundle

COLUMNS = ("predictions", "columns")


@pytest.fixture
def file(tmp_path):
    """A recipe that asks about `new.csv`; each test says how."""
    write_bundle(tmp_path / "base")
    (tmp_path / "a.csv").write_text("review,label\na,b\nc,d\n")
    (tmp_path / "new.csv").write_text("review,stars\nx,1\n")
    (tmp_path / "new.jsonl").write_text('{"stars": 1}\n{"review": "x"}\n')

    def write(asked):
        path = tmp_path / "mine.yaml"
        path.write_text(
            f"base: {tmp_path}/base\ntask: {{kind: classification}}\n"
            f"data: {{kind: columns, train: {tmp_path}/a.csv, texts: {{text: review}}}}\n"
            f"predictions:\n  input: {tmp_path}/{asked}\n"
        )
        return path

    return write


@pytest.mark.parametrize(("asked", "key", "said"), [
    ("new.csv", None, ""),
    ("new.jsonl", None, ""),
    ("new.csv\n  columns: {text: stars}", None, ""),
    ("new.csv\n  columns: {text: reviews}", (*COLUMNS, "text"), "no column 'reviews'"),
    ("new.csv\n  columns: {txt: review}", (*COLUMNS, "txt"), "no such input; did you mean text?"),
    ("new.jsonl\n  columns: {text: reviews}", COLUMNS, "none of 2 records"),
])  # fmt: skip
def test_a_column_is_looked_up_in_the_file(file, asked, key, said):
    found = predictions_problem(load_adapting_recipe(file(asked)))
    assert (found is None) if key is None else (found[0] == key and said in found[1])
    if key is not None:
        with pytest.raises(ValueError, match="^" + ".".join(key).replace(".", r"\.") + ": "):
            check_predictions(load_adapting_recipe(file(asked)))


def test_the_command_names_the_line(file, tmp_path):
    path = file("new.csv\n  columns: {text: reviews}")
    result = CliRunner().invoke(app, ["finetune", "--recipe", str(path), "--root", str(tmp_path / "runs")])
    assert result.exit_code == 2 and f"{path}:6:13: predictions.columns.text: " in result.stderr
    assert "did you mean review?" in result.stderr and "--column" not in result.stderr


def test_a_pipeline_is_not_made(file, tmp_path):
    # It imports TFX, which no other test of serving needs.
    from firth.pipelines import finetune

    recipe = with_labels(load_adapting_recipe(file("new.csv\n  columns: {text: reviews}")))
    with pytest.raises(ValueError, match=r"predictions\.columns\.text: .*no column 'reviews'"):
        finetune.create_pipeline(recipe, str(tmp_path / "root"))
