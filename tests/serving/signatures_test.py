import numpy as np
import pytest
import tensorflow as tf

from firth.serving.embeddings import embed, embed_tokens
from firth.serving.fill_mask import fill_mask
from firth.serving.served import Served
from tests.exported_model import RECIPE, VOCABULARY, WORDS, exported_model, make_served

ids = {piece: index for index, piece in enumerate(VOCABULARY)}


def with_export(**changes) -> Served:
    served = exported_model().served
    return Served(
        served.model,
        served.tokenizer,
        RECIPE.model_copy(update={"export": RECIPE.export.model_copy(update=changes)}),
    )


def run(function, served, texts) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in function(served, tf.constant(texts, tf.string)).items()}


def features_of(*rows: list[str], length: int) -> dict[str, np.ndarray]:
    """The features of rows of pieces, by hand."""
    real = np.array([[1] * len(row) + [0] * (length - len(row)) for row in rows], np.int32)
    return {
        "token_ids": np.array([[ids[p] for p in row] + [0] * (length - len(row)) for row in rows], np.int32),
        "segment_ids": np.zeros_like(real),
        "position_ids": np.arange(length, dtype=np.int32) * real,
        "document_ids": real,
    }


def test_texts_are_encoded_as_one_segment_padded_to_the_longest():
    encoded = exported_model().served.encode(tf.constant(["the cats", "", "z"]))
    expected = features_of(
        ["[CLS]", "the", "cat", "##s", "[SEP]"], ["[CLS]", "[SEP]"], ["[CLS]", "z", "[SEP]"], length=5
    )
    assert set(encoded.features) == set(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(encoded.features[name], values, name)
    assert encoded.truncated.numpy().tolist() == [False, False, False]


@pytest.mark.parametrize("words, truncated", [(21, False), (22, False), (23, True), (60, True)])
def test_texts_are_cut_at_the_trained_length_though_the_model_has_more_positions(words, truncated):
    assert RECIPE.sequences.length == 24 < RECIPE.model.longest
    outputs = run(embed_tokens, exported_model().served, ["z " * words])
    assert outputs["token_count"].tolist() == [min(words, 22)]
    assert outputs["truncated"].tolist() == [truncated]


def test_fill_mask_takes_the_likeliest_pieces_that_are_words():
    served = exported_model().served
    outputs = run(fill_mask, served, ["the [MASK] sat"])
    features = features_of(["[CLS]", "the", "[MASK]", "sat", "[SEP]"], length=5)
    hidden, table = served.model.backbone(features), served.model.backbone.token_embedding.table
    logits = np.array(served.model.heads.masked_lm_head(hidden, np.array([[2]], np.int32), table))
    logits = logits[0, 0, 5 : len(VOCABULARY)]
    probabilities = np.exp(logits) / np.exp(logits).sum()
    best = np.argsort(-probabilities)[:3]
    assert outputs["pieces"][0, 0].tolist() == [WORDS[index].encode() for index in best]
    np.testing.assert_allclose(outputs["scores"][0, 0], probabilities[best], rtol=1e-4)


def test_special_pieces_and_unused_rows_are_never_proposed():
    outputs = run(fill_mask, with_export(top_k=1000), ["[MASK]"])
    assert sorted(outputs["pieces"][0, 0].tolist()) == sorted(word.encode() for word in WORDS)
    np.testing.assert_allclose(outputs["scores"].sum(), 1.0, rtol=1e-5)


def test_fill_mask_pads_to_the_text_with_most_masks():
    outputs = run(fill_mask, exported_model().served, ["[MASK] a [MASK]", "[MASK]", "none"])
    assert outputs["mask_count"].tolist() == [2, 1, 0]
    assert outputs["mask_positions"].tolist() == [[0, 2], [0, 0], [0, 0]]
    assert outputs["pieces"][1, 1].tolist() == [b""] * 3
    assert not outputs["scores"][2].any()


def test_embed_tokens_gives_the_hidden_states_of_the_texts_own_pieces():
    served = exported_model().served
    outputs = run(embed_tokens, served, ["the cats", "z"])
    features = features_of(["[CLS]", "the", "cat", "##s", "[SEP]"], ["[CLS]", "z", "[SEP]"], length=5)
    hidden = np.array(served.model.backbone(features, training=False))
    assert outputs["pieces"].tolist() == [[b"the", b"cat", b"##s"], [b"z", b"", b""]]
    assert outputs["token_count"].tolist() == [3, 1]
    np.testing.assert_allclose(outputs["embeddings"][0], hidden[0, 1:4], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(outputs["embeddings"][1, 0], hidden[1, 1], rtol=1e-4, atol=1e-5)
    assert not outputs["embeddings"][1, 1:].any()


def test_embed_is_the_mean_of_the_tokens_vectors():
    texts = ["the cats sat", "", "z"]
    tokens = run(embed_tokens, exported_model().served, texts)["embeddings"]
    outputs = run(embed, exported_model().served, texts)
    assert outputs["embedding"].dtype == np.float32
    np.testing.assert_allclose(outputs["embedding"][0], tokens[0, :4].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(outputs["embedding"][2], tokens[2, 0], rtol=1e-5)
    assert not outputs["embedding"][1].any()


def test_embed_by_cls_is_the_pooled_first_vector():
    served = with_export(pooling="cls")
    features = features_of(["[CLS]", "z", "[SEP]"], length=3)
    hidden = served.model.backbone(features, training=False)
    expected = np.array(served.model.heads.pooler(hidden, np.array([[0]]))[:, 0])
    np.testing.assert_allclose(run(embed, served, ["z"])["embedding"], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("function", [fill_mask, embed, embed_tokens])
def test_an_empty_batch_has_an_empty_answer(function):
    outputs = run(function, exported_model().served, [])
    assert {len(values) for values in outputs.values()} == {0}


def test_a_bfloat16_model_answers_in_float32():
    training = RECIPE.training.model_copy(update={"precision": "mixed_bfloat16"})
    served = make_served(RECIPE.model_copy(update={"training": training}))
    exact = exported_model().served
    assert served.model.backbone.compute_dtype == "bfloat16"
    for function, name in [(fill_mask, "scores"), (embed, "embedding"), (embed_tokens, "embeddings")]:
        found, expected = (run(function, each, ["the [MASK] sat"])[name] for each in (served, exact))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=5e-2)
        assert (found != expected).any()
