"""`firth import`: what it says, and how what it made is used."""

from tests.interop.hugging_face.checkpoints import checkpoint


def test_a_model_comes_in_and_is_asked(firth, tmp_path):
    (tmp_path / "published").mkdir()
    path = checkpoint(tmp_path / "published", {"cls.predictions.bias": None})
    result = firth("import", "hf", path, "--name", "tiny")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == ("fresh, and random until trained, since the files lack it: heads/masked_lm_head/bias")
    assert "  firth predict tiny embed 'A sentence.'" in lines
    assert "imported (Hugging Face)" in firth("runs").stdout
    answer = firth("predict", "tiny", "embed", "the cat")
    assert answer.exit_code == 0 and answer.stdout.startswith("the cat\n  [")
    again = firth("import", "hf", path, "--name", "tiny")
    assert again.exit_code == 2 and "already exists; give another --name" in again.stderr


def test_what_is_wrong_is_one_sentence(firth, tmp_path):
    result = firth("import", "elmo", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr.strip().endswith("holds 0 files of the form *options*.json, not one")
    assert firth("import", "hf", "nowhere").stderr.strip().endswith("there is no folder nowhere")


def test_help_has_an_example_for_each_format(firth):
    listed = firth("import", "--help").stdout
    assert "firth import hf all-MiniLM-L6-v2 --name minilm" in listed
    assert "firth import elmo elmo_original --name elmo" in listed
