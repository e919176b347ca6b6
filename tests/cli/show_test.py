"""`firth show`: what is taken from a base is said, and what is printed is a recipe."""

from firth.recipes import load_recipe
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
