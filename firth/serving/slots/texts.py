"""The signatures to and from the tokens of slots, which any model that writes has."""

import tensorflow as tf

from firth.generation.framing import PromptFraming
from firth.generation.texts_in_graph import read_prompts, written_texts
from firth.serving.signature import Output, TensorSignature

_LENGTHS = Output("number of tokens", "int32")
_IDS = ("batch", "tokens")


class SlotTexts:
    """Texts as prompts of slots, and texts of tokens that slots write.

    Args:
        framing: Layout of the model's prompts.
    """

    def __init__(self, framing: PromptFraming) -> None:
        self._framing = framing

    def tokenize(self, text: tf.Tensor, max_new_tokens: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns texts as `prefill` reads them.

        Args:
            text: Texts, string [batch]; dialogues as JSON for a model that learned dialogues.
            max_new_tokens: Most tokens to write after each, int32 [batch]: a text that is too long is cut so
                that there is room for so many, or for half a row. A dialogue that is too long loses its
                oldest turns.

        Returns:
            ids: int32 [batch, tokens], padded.
            length: int32 [batch], tokens of each text with its special ones.
            truncated: bool [batch], whether the text was cut.

        Raises (when run):
            tf.errors.InvalidArgumentError: for a text that is not a dialogue, if the model learned dialogues.
        """
        read = read_prompts(self._framing, text, max_new_tokens)
        return {"ids": read.prompts.ids, "length": read.prompts.lengths, "truncated": read.truncated}

    def text_ids(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns all tokens of texts alone, also of those that are longer than a prompt.

        Args:
            text: Texts, string [batch].

        Returns:
            ids: int32 [batch, tokens], padded.
            length: int32 [batch], tokens of each text.
        """
        tokenizer = self._framing.tokenizer
        if self._framing.reads_words:
            found = tokenizer.word_ids(tokenizer.split(text))
        else:
            found = tokenizer.tokenize(text)
        return {"ids": found.to_tensor(), "length": tf.cast(found.row_lengths(), tf.int32)}

    def detokenize(
        self, prompt_ids: tf.Tensor, prompt_length: tf.Tensor, ids: tf.Tensor, length: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the texts of tokens that were written after prompts.

        Args:
            prompt_ids: Tokens that `prefill` read, int32 [batch, tokens], padded.
            prompt_length: Number of them, int32 [batch].
            ids: Tokens that `step` wrote, without the end, int32 [batch, tokens], padded.
            length: Number of them, int32 [batch].

        Returns:
            generated: string [batch], in UTF-8; bytes of an incomplete character are U+FFFD.
        """
        framing = self._framing
        own = prompt_ids[:, len(framing.before) :]
        count = tf.maximum(prompt_length - len(framing.before) - len(framing.after), 0)
        prompts, written = (
            tf.RaggedTensor.from_tensor(each, lengths=sizes) for each, sizes in ((own, count), (ids, length))
        )
        return {"generated": written_texts(framing, prompts, written)}


TEXT_SIGNATURES = {
    "tokenize": TensorSignature(
        "Gives texts as `prefill` reads them.",
        {
            "text": Output(
                "text to continue; for a model that learned dialogues one as JSON, a list of messages "
                "with `role` and `content`, the last of the user",
                "string",
            ),
            "max_new_tokens": Output("most tokens to write, for which a long text is cut", "int32"),
        },
        {
            "ids": Output("tokens with special ones, padded", "int32", _IDS),
            "length": _LENGTHS,
            "truncated": Output("whether the text was cut", "bool"),
        },
    ),
    "text_ids": TensorSignature(
        "Gives all tokens of texts alone, also of those that are longer than a prompt.",
        {"text": Output("text", "string")},
        {"ids": Output("tokens, padded", "int32", _IDS), "length": _LENGTHS},
    ),
    "detokenize": TensorSignature(
        "Gives the texts of tokens that were written.",
        {
            "prompt_ids": Output("tokens that `prefill` read, padded", "int32", _IDS),
            "prompt_length": _LENGTHS,
            "ids": Output("tokens that `step` wrote, without the end, padded", "int32", _IDS),
            "length": _LENGTHS,
        },
        {"generated": Output("text, in UTF-8", "string")},
    ),
}
"""Descriptions of the signatures by name."""
