"""TokenizerGen of a run that starts from a bundle."""

import shutil

import pytest
from tfx.dsl.components.base.base_beam_executor import BaseBeamExecutor
from tfx.types import standard_artifacts

from firth.components.artifacts import Tokenizer
from firth.components.data.tokenizer_gen import Executor
from firth.recipes.reading.bundles import NoBundleError, digest_of_bundle
from firth.tokenizers import WordPieceTokenizer, load_tokenizer, save_tokenizer
from tests.training.artifacts import write_bundle

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fox"]


def take(bundle, digest, folder, added="[]"):
    base, tokenizer = standard_artifacts.Model(), Tokenizer()
    base.uri, tokenizer.uri = str(bundle), str(folder)
    if digest:
        base.set_string_custom_property("digest", digest)
    executor = Executor(BaseBeamExecutor.Context(tmp_dir=str(folder.parent), unique_id="1"))
    properties = {"added_words": added, "added_count": 0}
    executor.Do({"base": [base]}, {"tokenizer": [tokenizer]}, properties)
    return tokenizer.get_string_custom_property("digest")


@pytest.mark.parametrize("added", ["[]", '["hound"]'])
def test_a_tokenizer_of_a_bundle_that_was_replaced_is_not_taken(tmp_path, added):
    bundle = tmp_path / "bundle"
    save_tokenizer(WordPieceTokenizer(PIECES), bundle / "tokenizer")
    digest = digest_of_bundle(bundle)
    taken = take(bundle, digest, tmp_path / "first", added)
    assert taken == load_tokenizer(tmp_path / "first").digest
    shutil.rmtree(bundle / "tokenizer")
    save_tokenizer(WordPieceTokenizer([*PIECES, "dog"]), bundle / "tokenizer")
    with pytest.raises(NoBundleError, match="not the bundle"):
        take(bundle, digest, tmp_path / "second", added)
    assert not (tmp_path / "second").exists()


def test_the_tokenizer_of_an_earlier_model_is_taken_from_its_bundle(tmp_path):
    """A model of the Trainer has no digest: the resolver has found it just now."""
    bundle = write_bundle(tmp_path / "model" / "bundle")
    taken = take(tmp_path / "model", "", tmp_path / "taken")
    assert taken == load_tokenizer(f"{bundle}/tokenizer").digest == load_tokenizer(tmp_path / "taken").digest
