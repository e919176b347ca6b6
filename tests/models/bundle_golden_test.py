"""Bundles that an earlier commit wrote open with the same answers."""

import pathlib
import zipfile

import numpy as np
import pytest

pytest.importorskip("keras_hub", reason="its tokenizers need KerasHub")

from firth.models import load_model
from firth.tokenizers import load_tokenizer
from tests.models.golden.make_bundles_golden import PLACES, TEXTS
from tests.repeating import often

GOLDEN = pathlib.Path(__file__).parent / "golden" / "bundles.zip"
with zipfile.ZipFile(GOLDEN) as _archive:
    NAMES = [name.removesuffix(".npz") for name in _archive.namelist() if name.endswith(".npz")]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("bundles")
    with zipfile.ZipFile(GOLDEN) as file:
        file.extractall(home)
    return home


@pytest.mark.parametrize("name", often(NAMES, ["bert_tiny", "electra_tiny", "t5_tiny", "classification"]))
def test_an_earlier_bundle_gives_its_answers(home, name):
    golden = {}
    with np.load(home / f"{name}.npz") as file:
        for key in file.files:
            part, _, rest = key.partition("/")
            golden.setdefault(part, {})[rest] = file[key]
    model = load_model(home / name)
    np.testing.assert_allclose(model.backbone(golden["features"]), golden["hidden"][""], rtol=0, atol=1e-5)
    logits = model.logits(golden["features"])
    assert logits.keys() == golden["logits"].keys()
    for loss, each in logits.items():
        np.testing.assert_allclose(each[:, :PLACES], golden["logits"][loss], rtol=0, atol=1e-5, err_msg=loss)
    tokenizer = load_tokenizer(home / name / "tokenizer")
    for place, text in enumerate(TEXTS):
        np.testing.assert_array_equal(tokenizer.tokenize(text), golden["ids"][str(place)], err_msg=text)
