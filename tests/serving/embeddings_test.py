import numpy as np
import pytest

from firth.serving.embeddings import embed, embed_tokens
from tests.exported_model import RECIPE, exported_model
from tests.serving.served_texts import features_of, run, with_export


@pytest.mark.parametrize("words, truncated", [(21, False), (22, False), (23, True), (60, True)])
def test_texts_are_cut_at_the_trained_length_though_the_model_has_more_positions(words, truncated):
    assert RECIPE.sequences.length == 24 < RECIPE.model.longest
    outputs = run(embed_tokens, exported_model().served, ["z " * words])
    assert outputs["token_count"].tolist() == [min(words, 22)]
    assert outputs["truncated"].tolist() == [truncated]


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


def test_a_mean_is_over_all_tokens_of_a_text_that_is_longer_than_a_row():
    words = ["the", "cats", "sat", "z", "mat"] * 12
    served, room = exported_model().served, 22
    pieces = [served.tokenizer.id_to_token(each) for each in served.tokenizer.tokenize(" ".join(words))]
    parts = [pieces[start : start + room] for start in range(0, len(pieces), room)]
    states = []
    for part in parts:
        features = features_of(["[CLS]", *part, "[SEP]"], length=len(part) + 2)
        states.append(np.array(served.model.backbone(features, training=False))[0, 1:-1])
    found = run(embed, served, ["z", " ".join(words)])
    np.testing.assert_allclose(
        found["embedding"][1], np.concatenate(states).mean(axis=0), rtol=1e-4, atol=1e-5
    )
    assert found["tokens_read"].tolist() == found["tokens_given"].tolist() == [1, len(pieces)]
    of_first_part = run(embed, with_export(long_texts="cut"), [" ".join(words)])["embedding"][0]
    np.testing.assert_allclose(of_first_part, states[0].mean(axis=0), rtol=1e-4, atol=1e-5)
    cut = run(embed, with_export(pooling="first"), [" ".join(words)])
    assert (cut["truncated"].tolist(), cut["tokens_read"].tolist()) == ([True], [room])
    assert cut["tokens_given"].tolist() == [len(pieces)]


def test_embed_by_first_is_the_state_of_the_first_token():
    served = with_export(pooling="first")
    hidden = served.model.backbone(features_of(["[CLS]", "z", "[SEP]"], length=3), training=False)
    found = run(embed, served, ["z"])["embedding"]
    np.testing.assert_allclose(found, np.array(hidden)[:, 0], rtol=1e-4, atol=1e-5)


def test_embed_by_cls_is_the_pooled_first_vector():
    served = with_export(pooling="cls")
    features = features_of(["[CLS]", "z", "[SEP]"], length=3)
    hidden = served.model.backbone(features, training=False)
    expected = np.array(served.model.heads.pooler(hidden, np.array([[0]]))[:, 0])
    np.testing.assert_allclose(run(embed, served, ["z"])["embedding"], expected, rtol=1e-4, atol=1e-5)


def _over_all(pooling: str, hidden: np.ndarray) -> np.ndarray:
    """Pools the states of one text's tokens, [tokens, width], as sentence-transformers does."""
    weights = np.arange(1, len(hidden) + 1)[:, None]
    return {
        "last": hidden[-1],
        "max": hidden.max(axis=0),
        "mean_sqrt_length": hidden.sum(axis=0) / np.sqrt(len(hidden)),
        "weighted_mean": (hidden * weights).sum(axis=0) / weights.sum(),
    }[pooling]


@pytest.mark.parametrize("pooling", ["last", "max", "mean_sqrt_length", "weighted_mean"])
def test_embed_over_all_tokens(pooling):
    """Next to a longer text, so that there is padding; with a prompt, and of length one."""
    served = with_export(pooling=pooling, prompt="the ", normalize=True)
    hidden = served.model.backbone(features_of(["[CLS]", "the", "z", "[SEP]"], length=4), training=False)
    expected = _over_all(pooling, np.array(hidden)[0])
    found = run(embed, served, ["z", "the cats sat"])["embedding"]
    np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
