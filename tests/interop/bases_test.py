"""The base of a recipe that is another library's folder."""

import functools
import os
import pathlib
import shutil

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.interop.bases import imported_base
from firth.interop.formats import Format
from firth.language_model.opening import read_recipe_with
from firth.recipes import RecipeError, load_recipe
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.reading.raw_recipes import Option
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.interop.tensorflow import originals

TENSORS = originals.random(originals.bert())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A checkpoint's folder, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FIRTH_ROOT", raising=False)
    return originals.write(tmp_path / "bert of 2018", TENSORS)


def read(path, said=None, root="runs"):
    """The recipe of a base, read as a library does."""
    bring = functools.partial(imported_base, report=[].append if said is None else said.append)
    return load_recipe(None, ["sources=[{kind: text, paths: [a.txt]}]", f"base={path}"], root, bring)


def test_a_second_reading_finds_the_first_ones_import(folder):
    first = read(folder, said := [])
    run = pathlib.Path(first.base.bundle).parent
    assert said == [f"{folder} is imported as {run.relative_to(pathlib.Path.cwd())}"]
    assert run.parent.name == "runs" and run.name.startswith("bert_of_2018-")
    assert (first.name, first.model.width) == ("bert_of_2018_continued", originals.WIDTH)
    assert read(folder, again := []) == first and again == []
    # The digest that pins the recipe is the content's, so that a lost import is made again.
    shutil.rmtree("runs")
    assert read(folder, again) == first and len(again) == 1


def test_a_changed_checkpoint_is_imported_anew(folder):
    first = read(folder).base
    originals.save(folder / "bert_model.ckpt", {name: each + 1 for name, each in TENSORS.items()})
    (folder / "notes.txt").write_text("seen")
    second = read(folder).base
    assert second.digest != first.digest and len(os.listdir("runs")) == 2
    assert digest_of_bundle(first.bundle) == first.digest


def test_a_half_written_import_is_never_taken(folder):
    bundle = pathlib.Path(read(folder).base.bundle)
    (bundle.parent / "_SUCCESS").unlink()
    with pytest.raises(RecipeError, match=rf"base: {folder} is not imported: .*{bundle.parent.name}"):
        read(folder)
    shutil.rmtree("runs")
    data = folder / "bert_model.ckpt.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:100])
    with pytest.raises(RecipeError, match=r"--set base=.*: base: .*bert_model\.ckpt"):
        read(folder)
    assert os.listdir("runs") == []


@pytest.mark.parametrize(
    ("break_it", "problem"),
    [
        (
            lambda folder: (folder / "bert_config.json").rename(folder.parent / "mine.json"),
            r"holds no \*config\.json.*`firth import tensorflow .*bert of 2018 --name NAME --config CONFIG`",
        ),
        (lambda folder: next(folder.glob("*.data-*")).unlink(), r"without its data, [^`]*$"),
        (lambda folder: (folder / "bert_model.ckpt.index").unlink(), "is not a model bundle: it lacks"),
    ],
    ids=["needs an option", "lacks a file", "no format"],
)
def test_a_folder_that_cannot_be_read_is_refused(folder, break_it, problem):
    break_it(folder)
    with pytest.raises(RecipeError, match=problem):
        read(folder)
    assert not os.path.exists("runs") or os.listdir("runs") == []


def test_a_checkpoints_path_and_other_formats_are_bases(folder):
    originals.save(folder / "other.ckpt", TENSORS)
    names = {read(folder / name).base.bundle for name in ("bert_model.ckpt", "bert_model.ckpt.index")}
    assert len(names) == 1 and "runs/bert_of_2018_bert_model_ckpt-" in names.pop()
    (folder / "published").mkdir()
    path = checkpoint(folder / "published")
    assert read(path).tokenizer.kind == "wordpiece"


def test_checkpoints_whose_folders_would_be_called_the_same_are_two(folder):
    names = ("bert model.ckpt", "bert_model.ckpt")
    originals.save(folder / names[0], {name: each + 1 for name, each in TENSORS.items()})
    bases = [read(folder / name).base for name in names]
    assert len({base.bundle for base in bases}) == len({base.digest for base in bases}) == 2
    # The digest of a checkpoint leaves out the files of the other one.
    originals.save(folder / names[0], TENSORS)
    assert read(folder / names[1]).base == bases[1]


@pytest.mark.parametrize("root", ["runs", "."])
@pytest.mark.parametrize("kind", ["checkpoint", "folder"])
def test_runs_and_hidden_files_in_the_bases_folder_are_no_part_of_it(folder, monkeypatch, root, kind):
    base = "./bert_model.ckpt"
    if kind == "folder":
        base, folder = ".", pathlib.Path("published")
        folder.mkdir()
        checkpoint(folder)
    monkeypatch.chdir(folder)
    first = read(base, said := [], root)
    pathlib.Path(".cache").mkdir()
    for path in (".seen", ".cache/seen"):
        pathlib.Path(path).write_text("today")
    assert read(base, said, root) == first and len(said) == 1


def test_what_a_reader_did_not_expect_is_a_message_of_the_command(folder, monkeypatch):
    def broken(*_):
        raise IndexError("list index out of range")

    monkeypatch.setattr(Format, "import_model", broken)
    monkeypatch.setenv("FIRTH_LASTING_TMPDIR", str(folder.parent))
    shown = CliRunner().invoke(app, ["show", "bert_tiny", "--base", folder.name])
    assert shown.exit_code == 1 and "IndexError: list index out of range\nThe log is " in shown.output


def test_the_command_and_the_front_door_find_the_same(folder, caplog):
    sources = Option("sources", [{"kind": "text", "paths": ["a.txt"]}], "texts")
    base = read_recipe_with(None, [Option("base", str(folder), "base"), sources]).base
    (line,) = [each.getMessage() for each in caplog.records if each.name == "firth.interop.bases"]
    command = ["show", "bert_tiny", "--base", folder.name]
    shown = CliRunner().invoke(app, command)
    assert base.digest in shown.output and "is imported as" not in shown.output
    shutil.rmtree("firth-runs")
    shown = CliRunner().invoke(app, command)
    assert base.digest in shown.output and f"note: {line}" in shown.output
