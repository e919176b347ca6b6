"""`firth merge`: a base and an adapter become a model that is asked, and what is refused."""

import pytest

from firth import storage
from firth.models import load_model
from firth.models.bundle import weights_by_path
from firth.tuning import load_adapter
from tests.exported_model import first_signature_alone
from tests.training.artifacts import tiny_recipe, write_bundle
from tests.tuning.drawn import write_adapter
from tests.tuning.runs import LORA


def test_base_and_adapter_become_one_model(firth, tmp_path):
    recipe = write_adapter(tmp_path, LORA)
    with first_signature_alone(evaluates=False):
        result = firth("merge", "./bundle", "adapter", "--name", "whole")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "  firth predict whole classify TEXT"
    made = load_model(tmp_path / "firth-runs" / "whole" / "bundle")
    model, _ = load_adapter(tmp_path / "adapter", recipe.base.bundle)
    [place] = [each for each in model.added.held if each.name == "lora"][:1]
    assert place.up.numpy().any() and not made.added.held
    assert set(weights_by_path(made)) == {
        path for path in weights_by_path(model) if not path.startswith("added/")
    }
    answer = firth("predict", "whole", "classify", "w1 w2")
    assert answer.exit_code == 0 and answer.stdout.startswith("w1 w2")
    assert "imported (adapter, lora)" in firth("runs").stdout
    again = firth("merge", "./bundle", "adapter", "--name", "whole")
    assert again.exit_code == 2 and "whole already exists; give another --name" in again.stderr


def test_what_does_not_fit_is_refused_with_its_reason(firth, tmp_path):
    recipe = write_adapter(tmp_path, {"kind": "pfeiffer", "reduction_factor": 4.0})
    stays = firth("merge", "./bundle", "adapter")
    assert stays.exit_code == 2 and "method.kind: pfeiffer does not merge" in stays.stderr
    write_bundle(tmp_path / "other", tiny_recipe(), seed=8)
    storage.remove(tmp_path / "adapter")
    recipe = write_adapter(tmp_path / "again", LORA)
    other = firth("merge", "./other", "again/adapter")
    assert (
        other.exit_code == 2 and recipe.base.digest in other.stderr and "belongs to the base" in other.stderr
    )
    lacks = firth("merge", "./other", "./bundle")
    assert lacks.exit_code == 2 and "bundle has no adapter next to it" in lacks.stderr
    (tmp_path / "empty").mkdir()
    assert "empty is not an adapter: it lacks adapter.json" in firth("merge", "./other", "empty").stderr
    assert not (tmp_path / "firth-runs").exists()


@pytest.mark.parametrize("name", ["../x", ""])
def test_a_name_is_one_of_a_folder(firth, name):
    assert "--name" in firth("merge", "a", "b", "--name", name or ".").stderr
