"""ELMo's published files become a bundle that gives vectors of words."""

import numpy as np
import pytest

from firth.interop.elmo import import_model
from firth.interop.errors import InteropError
from firth.models.elmo_import import load_elmo
from firth.serving import load_served
from firth.serving.embeddings import embed_tokens
from tests.models.elmo_files import BEGIN, END, characters_of, write_random_files


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    return folder, *write_random_files(folder)


def test_words_get_all_layers_of_the_published_model(published, tmp_path):
    folder, options, weights = published
    read = import_model(folder, tmp_path / "bundle", "elmo")
    assert read.fresh == ("heads/table", "heads/bias") and read.surplus == ()
    found = embed_tokens(load_served(tmp_path / "bundle"), ["one two", "snow\N{SNOWMAN}man"])
    assert found["pieces"].numpy()[0].tolist() == [b"one", b"two"]
    characters = np.stack([characters_of(word, 10) for word in [BEGIN, "one", "two", END]])[None]
    features = {"characters": characters, "document_ids": np.ones(characters.shape[:2], "int32")}
    layers = np.array(load_elmo(options, weights).layer_outputs(features))[0, :, 1:-1].swapaxes(0, 1)
    np.testing.assert_allclose(found["layers"].numpy()[0], layers, atol=1e-5)
    np.testing.assert_allclose(found["embeddings"].numpy()[0], layers.mean(axis=1), atol=1e-5)


def test_a_folder_that_holds_something_else_is_refused(published, tmp_path):
    folder, _, weights = published
    with pytest.raises(InteropError, match="there is no folder"):
        import_model(folder / "none", tmp_path / "bundle", "elmo")
    (folder / "more_options.json").write_text("{}")
    with pytest.raises(InteropError, match=r"holds 2 files of the form \*options\*.json, not one: "):
        import_model(folder, tmp_path / "bundle", "elmo")
    (folder / "more_options.json").unlink()
    weights.write_bytes(b"no HDF5")
    with pytest.raises(InteropError, match="is not an HDF5 file"):
        import_model(folder, tmp_path / "bundle", "elmo")
    assert not (tmp_path / "bundle").exists()
