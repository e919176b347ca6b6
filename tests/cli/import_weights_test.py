"""`firth import`: what it says, and how what it made is used."""

import pathlib

import pytest

from firth import storage
from firth.pipelines.run_errors import RunFolderError
from firth.pipelines.run_folder import refuse_imported
from tests.cli.imported_model import imported_model
from tests.interop.hugging_face.checkpoints import checkpoint, tensors_of
from tests.interop.tensorflow import originals


def test_a_model_comes_in_and_is_asked(firth, imported):
    lines = imported.splitlines()
    assert "  firth predict tiny embed 'A sentence.'" in lines
    assert any(line.startswith("  firth predict tiny fill-mask ") for line in lines)
    assert "  firth run --base tiny --text 'notes/*.txt'" in lines
    assert any(line.startswith("  firth finetune tiny --task classification --train ") for line in lines)
    assert "imported (Hugging Face)" in firth("runs").stdout
    answer = firth("predict", "tiny", "embed", "the cat")
    assert answer.exit_code == 0 and answer.stdout.startswith("the cat\n  [")
    again = firth("import", "hf", "published", "--name", "tiny")
    assert again.exit_code == 2 and "tiny already exists" in again.stderr and "--name" in again.stderr


def test_weights_that_the_files_lack_are_named(firth, tmp_path, made_once, monkeypatch):
    (exported,) = (imported_model(made_once) / "firth-runs" / "tiny" / "serving").iterdir()
    monkeypatch.setattr("firth.serving.export_bundle", lambda _, place: storage.copy_folder(exported, place))
    (tmp_path / "published").mkdir()
    head = {name: None for name in tensors_of("bert") if name.startswith("cls.")}
    path = checkpoint(tmp_path / "published", head)
    result = firth("import", "hf", path, "--name", "tiny")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("fresh, and random until trained, since the files lack them: heads/masked_lm_")
    assert any(line.startswith("reads up to 14 tokens of a text") for line in lines)
    assert "  firth predict tiny embed 'A sentence.'" in lines
    parts = ["reading the model", "writing its weights", "exporting its SavedModel"]
    assert [line for line in result.stderr.splitlines() if line in parts] == parts
    assert not any("fill-mask" in line for line in lines), "what a fresh head answers is random"


def test_what_is_wrong_is_one_sentence(firth, tmp_path):
    result = firth("import", "elmo", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr.strip().endswith("holds 0 files of the form *options*.json, not one")
    folder = originals.write(tmp_path / "bert", originals.random(originals.bert()))
    for option in (("--part", "generator"), ("--config", "no.json")):
        wrong = firth("import", "tensorflow", str(folder), *option)
        assert wrong.exit_code == 2 and option[1] in wrong.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("**/bundle"))
    said = firth("import", "hf", "nowhere").stderr
    assert said.startswith("error: there is no folder nowhere") and "hf download OWNER/nowhere" in said


def test_an_imported_model_is_no_run(firth, imported, tmp_path):
    wrong = firth("report", "tiny")
    assert wrong.exit_code == 1 and "is an imported model, which has no report" in wrong.stderr
    with pytest.raises(RunFolderError, match=r"imported model; .*--name"):
        refuse_imported(tmp_path / "firth-runs" / "tiny")
    refuse_imported(tmp_path)


def test_a_name_is_one_of_a_folder(firth, tmp_path):
    wrong = firth("import", "hf", str(tmp_path), "--name", "../tiny")
    assert wrong.exit_code == 2 and "--name" in wrong.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.repeated
def test_a_folder_of_another_file_system_is_read(firth, tmp_path):
    (tmp_path / "published").mkdir()
    for path in pathlib.Path(checkpoint(tmp_path / "published")).iterdir():
        storage.copy_file(path, f"ram://published/{path.name}")
    result = firth("import", "hf", "ram://published", "--name", "tiny")
    assert result.exit_code == 0, result.output
    written = firth("export", "tiny", "--format", "hf", "--output", "ram://out")
    assert written.exit_code == 0, written.output
    assert storage.exists("ram://out/config.json")


def test_help_has_an_example_for_each_format(firth):
    listed = firth("import", "--help").stdout
    assert "firth import hf all-MiniLM-L6-v2 --name minilm" in listed
    assert "firth import elmo elmo_original --name elmo" in listed
    options = firth("import", "tensorflow", "--help").stdout
    assert (
        "--part" in options
        and "--config" in options
        and "--part" not in firth("import", "hf", "--help").stdout
    )
