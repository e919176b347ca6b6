import numpy as np
import tensorflow as tf

from firth.serving.fill_mask import encode_masked, fill_mask
from tests.exported_model import VOCABULARY, WORDS, exported_model
from tests.serving.served_texts import features_of, run, with_export


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


def test_the_mask_is_the_one_special_piece_that_is_read_from_a_text():
    served = exported_model().served
    typed = tf.constant(["a [MASK] [SEP] [CLS] [PAD] [mask] ［MASK］"])
    masked = encode_masked(served, typed)
    ids = served.tokenizer.special_ids
    frame = [*served.ids_before_text, *served.ids_after_text]
    found = [each for each in masked.features["token_ids"].numpy()[0] if each in ids]
    assert sorted(each for each in found if each != served.tokenizer.unk_id) == sorted(
        [*frame, served.tokenizer.mask_id]
    )
    assert masked.count.numpy().tolist() == [1]
    # No other signature reads it.
    assert served.tokenizer.mask_id not in served.encode(typed).features["token_ids"].numpy()
