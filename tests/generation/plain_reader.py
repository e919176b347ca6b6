"""A reader that keeps nothing, which caches are compared with: it reads each row whole for every token."""

import tensorflow as tf

from firth import features as names
from firth.generation import Prompts, ReadRows


class PlainReader:
    """Reads as `TokenReader` says, by whole passes of the backbone over rows of padded length.

    Its cache is the rows' ids.
    """

    def __init__(self, generator):
        self._model, self._tokenizer = generator.model, generator.tokenizer
        self.start = self._start = generator.framing.start
        self.goes_back, self.predicts_prompt = generator.reader.goes_back, generator.reader.predicts_prompt

    def begin(self, prompts: Prompts, room):
        batch = prompts.ids.shape[0]
        if self._start:
            ids, lengths = tf.tile([self._start], [batch, 1]), tf.fill([batch], len(self._start))
        else:
            ids, lengths = prompts.ids, prompts.lengths
        cache = tf.pad(ids, [[0, 0], [0, room]])
        facts = {**prompts.facts, "prompt_ids": prompts.ids, "prompt_lengths": prompts.lengths}
        rows = ReadRows(lengths, facts, cache)
        return self._whole(rows)[:, : ids.shape[1]], rows

    def read(self, tokens, rows: ReadRows):
        batch, count = tokens.shape
        places = rows.lengths[:, None] + tf.range(count)
        pairs = tf.stack([tf.broadcast_to(tf.range(batch)[:, None], [batch, count]), places], axis=-1)
        rows = rows._replace(
            cache=tf.tensor_scatter_nd_update(rows.cache, pairs, tokens), lengths=rows.lengths + count
        )
        return tf.gather(self._whole(rows), places, batch_dims=1), rows

    def logits(self, states):
        return self._model.heads.project(self._model.backbone, states)

    def _whole(self, rows: ReadRows):
        backbone, facts = self._model.backbone, rows.facts
        if self._tokenizer.max_characters:
            spelled = self._tokenizer.characters(tf.constant(self._tokenizer.get_vocabulary()))
            written = tf.gather(spelled, rows.cache)
            given = facts[names.CHARACTERS]
            given = tf.pad(given, [[0, 0], [0, written.shape[1] - given.shape[1]], [0, 0]])
            of_prompt = tf.sequence_mask(facts["prompt_lengths"], written.shape[1])[:, :, None]
            features = {names.CHARACTERS: tf.where(of_prompt, given, written)}
            states = backbone({**features, names.DOCUMENT_IDS: tf.ones_like(rows.cache)})
            return states[:, :, : states.shape[-1] // 2]
        features = whole_rows(rows.cache)
        if self._start:
            features = {f"decoder_{key}": value for key, value in features.items()}
            real = tf.sequence_mask(facts["prompt_lengths"], facts["prompt_ids"].shape[1], tf.int32)
            prompt = whole_rows(facts["prompt_ids"])
            features |= {**prompt, names.DOCUMENT_IDS: real}
        else:
            places = tf.range(rows.cache.shape[1])[None]
            before = places < facts["prompt_lengths"][:, None]
            features[names.ATTENTION_ORDER] = tf.where(before, 0, places)
        return backbone(features)


def whole_rows(ids):
    # Positions of padding are never seen; learned ones end where the row's text may.
    places = tf.minimum(tf.range(ids.shape[1]), 13)
    return {
        names.TOKEN_IDS: ids,
        names.POSITION_IDS: tf.broadcast_to(places[None], ids.shape),
        names.DOCUMENT_IDS: tf.ones_like(ids),
    }
