"""A preset becomes a bundle that is loaded and served, and the bundle becomes the same preset."""

import json

import keras_hub
import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.keras_hub import export_model, import_model
from firth.interop.keras_hub.tokenizers import written_tokenizer
from firth.models import load_model
from firth.models.bundle import read_recipe
from firth.serving import load_served
from firth.tokenizers import SentencePieceTokenizer, train_sentencepiece
from tests.interop.keras_hub import tiny
from tests.interop.keras_hub.tokenizers_test import MERGES, roberta_pieces

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*SPECIALS, "the", "a", "cat", "sat", "on", "mat", "##s", ".", "zoe"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A preset of BERT, its bundle, and the preset that the bundle becomes."""
    root = tmp_path_factory.mktemp("bert")
    theirs = tiny.backbone("bert")
    theirs.save_to_preset(str(root / "preset"))
    tokenizer = keras_hub.tokenizers.BertTokenizer(PIECES, lowercase=True, strip_accents=True)
    tokenizer.save_to_preset(str(root / "preset"))
    told = import_model(root / "preset", root / "bundle", "tiny")
    written = export_model(root / "bundle", root / "back", tokenizer="near")
    return root, theirs, told, written


def test_a_bundle_gives_the_hidden_states(bert):
    root, theirs, told, _ = bert
    given, model = tiny.features(), load_model(root / "bundle")
    found, expected = model.backbone(given), theirs(tiny.their_inputs(given, theirs.input))["sequence_output"]
    real = given["document_ids"] > 0
    np.testing.assert_allclose(np.array(found)[real], np.array(expected)[real], rtol=0, atol=1e-4)
    assert {path.split("/")[1] for path in told.fresh} == {"masked_lm_head", "pair_head"} and not told.surplus
    assert told.sentences(5)[-1].startswith("KerasHub's BertTokenizer reads control characters")
    recipe = read_recipe(root / "bundle")
    assert recipe.imported_from == "BertBackbone of KerasHub" and recipe.tokenizer.lowercase


def test_a_text_is_read_with_the_tokenizer_that_came_along(bert):
    served = load_served(bert[0] / "bundle")
    ids = served.encode(["The cats sat.", "[MASK] Zoë"], specials=["[MASK]"]).features["token_ids"]
    assert ids.numpy().tolist() == [[2, 5, 7, 11, 8, 12, 3], [2, 4, 13, 3, 0, 0, 0]]


def test_the_preset_comes_back_bit_by_bit(bert):
    root, theirs, _, written = bert
    assert set(written.files) >= {"config.json", "metadata.json", "model.weights.h5", "tokenizer.json"}
    again = keras_hub.models.Backbone.from_preset(str(root / "back"))
    assert again.get_config() == {**theirs.get_config(), "name": again.name}
    for weight, other in zip(theirs.weights, again.weights, strict=True):
        np.testing.assert_array_equal(np.array(weight), np.array(other), err_msg=weight.path)


def test_a_tokenizer_that_reads_texts_otherwise_is_left_out_unless_it_is_asked_for(bert, tmp_path):
    assert "BertTokenizer reads control characters" in bert[3].notes[0] and "differ" in bert[3].notes[0]
    written = export_model(bert[0] / "bundle", tmp_path / "back")
    assert not [name for name in written.files if "tokenizer" in name]
    assert "left out, the tokenizer: KerasHub's BertTokenizer reads" in written.notes[0]
    assert keras_hub.models.Backbone.from_preset(str(tmp_path / "back")).count_params()
    with pytest.raises(InteropError, match="tokenizer: 'exact' is not known; 'near' is"):
        export_model(bert[0] / "bundle", tmp_path / "other", tokenizer="exact")


def test_keras_hub_reads_texts_with_the_tokenizer_and_loads_a_task(bert):
    task = keras_hub.models.MaskedLM.from_preset(str(bert[0] / "back"))
    assert isinstance(task, keras_hub.models.BertMaskedLM)
    tokenizer = task.preprocessor.tokenizer
    assert np.array(tokenizer("The cats sat. Zoë")).tolist() == [5, 7, 11, 8, 12, 13]
    assert tokenizer.mask_token_id not in np.array(tokenizer("[MASK]")).tolist()


def test_a_head_that_is_ours_comes_and_goes_with_its_task(tmp_path):
    vocabulary = {piece: index for index, piece in enumerate(roberta_pieces())}
    shape = {**tiny.POSITIONS, "vocabulary_size": 280, "num_layers": 1}
    backbone = keras_hub.models.RobertaBackbone(**shape, dtype="float32")
    tokenizer = keras_hub.tokenizers.RobertaTokenizer(vocabulary, MERGES)
    preprocessor = keras_hub.models.RobertaMaskedLMPreprocessor(tokenizer, sequence_length=14)
    task = tiny.randomised(keras_hub.models.RobertaMaskedLM(backbone, preprocessor))
    task.save_to_preset(str(tmp_path / "preset"))
    told = import_model(tmp_path / "preset", tmp_path / "bundle", "tiny")
    assert told.fresh == told.surplus == ()
    assert "task.weights.h5" in export_model(tmp_path / "bundle", tmp_path / "back", tokenizer="near").files
    again = keras_hub.models.MaskedLM.from_preset(str(tmp_path / "back"))
    assert again.preprocessor.sequence_length == 14
    for weight, other in zip(task.weights, again.weights, strict=True):
        np.testing.assert_array_equal(np.array(weight), np.array(other), err_msg=weight.path)


def test_a_model_without_a_choice_of_how_texts_begin_names_its_objective(bert, tmp_path):
    with pytest.raises(InteropError, match=r"begin: 'cls': objective.kind: masked_lm has no such key"):
        import_model(bert[0] / "preset", tmp_path / "bundle", "tiny", begin="cls")


def test_a_head_that_is_another_one_there_is_not_one_that_the_files_lack(tmp_path):
    tokenizer = keras_hub.tokenizers.BertTokenizer(PIECES, lowercase=True, strip_accents=True)
    preprocessor = keras_hub.models.BertMaskedLMPreprocessor(tokenizer, sequence_length=14)
    task = keras_hub.models.BertMaskedLM(tiny.backbone("bert"), preprocessor)
    task.save_to_preset(str(tmp_path / "preset"))
    told = import_model(tmp_path / "preset", tmp_path / "bundle", "tiny")
    assert told.surplus == ("task.weights.h5",)
    assert "since KerasHub computes the head of task.weights.h5 otherwise: heads/" in told.sentences(1)[0]


def test_a_tied_causal_model_with_the_logits_of_its_task(tmp_path):
    words = dict.fromkeys(["the", "cat", "cats", "sat", "on", "mat", "a", "b", "c", "d", "e", "f", "g"], 9)
    ours = SentencePieceTokenizer(train_sentencepiece(words, 37, "unigram"))
    written_tokenizer(ours, "LlamaTokenizer").save_to_preset(str(tmp_path / "preset"))
    shape = {**tiny.LLAMA, "num_layers": 1, "tie_word_embeddings": True}
    backbone = tiny.randomised(keras_hub.models.LlamaBackbone(**shape, dtype="float32"))
    backbone.save_to_preset(str(tmp_path / "preset"))
    tiny.add_to_config(tmp_path / "preset", {"tie_word_embeddings": True})
    # SentencePiece makes the same ids.
    assert not import_model(tmp_path / "preset", tmp_path / "bundle", "tiny").notes
    begins = [read_recipe(tmp_path / "bundle").objective.begin]
    # As its preprocessor frames texts, or as it is asked for.
    stated = {"registered_name": "keras_hub>LlamaCausalLMPreprocessor", "config": {"add_start_token": False}}
    (tmp_path / "preset" / "preprocessor.json").write_text(json.dumps(stated))
    for number, begin in enumerate((None, "cls")):
        import_model(tmp_path / "preset", tmp_path / f"{number}", "tiny", begin=begin)
        begins.append(read_recipe(tmp_path / f"{number}").objective.begin)
    assert begins == ["cls", "none", "cls"]
    with pytest.raises(InteropError, match="begin: 'sep' is not a choice here; one of: cls, none"):
        import_model(tmp_path / "preset", tmp_path / "sep", "tiny", begin="sep")
    written = export_model(tmp_path / "bundle", tmp_path / "back")
    assert "tokenizer.json" in written.files and not written.notes
    task = keras_hub.models.CausalLM.from_preset(str(tmp_path / "back"))
    for weight, other in zip(backbone.weights, task.backbone.weights, strict=True):
        np.testing.assert_array_equal(np.array(weight), np.array(other), err_msg=weight.path)
    given, real = tiny.features(), tiny.features()["document_ids"] > 0
    expected = task(tiny.their_inputs(given, task.input))
    found = load_model(tmp_path / "bundle").logits(given)["lm"]
    np.testing.assert_allclose(np.array(found)[real], np.array(expected)[real], rtol=0, atol=1e-4)
