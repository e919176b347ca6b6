"""Corruption of spans, and of tokens one by one (Raffel et al. 2019, "T5", sections 3.3.4 and 3.1.4)."""

import tensorflow as tf

from firth.objectives.base import Row, SentinelObjective
from firth.objectives.rates.corruption_rates import iid_denoising_rates, span_corruption_rates
from firth.objectives.transforms.documents import Text
from firth.objectives.transforms.spans import Noise, random_spans, random_tokens
from firth.recipes.objectives.denoising import SpanCorruption


class SpanCorruptionObjective(SentinelObjective):
    """Spans of tokens give way to sentinels.

    Of a document of n tokens `round(n x noise_density)` are corrupted, at least one and not all, in
    `round(corrupted / mean_span)` spans, at least one. Both what is corrupted and what is kept is cut in so
    many parts at random, every way of cutting being as likely, and the parts take turns. So far a document
    always begins with a token that is kept and ends with one that is not, as in the reference code;
    `random_roll` then turns it around by a random number of tokens, where no span is torn in two.

    The inputs are closed by `[SEP]`, and so are the targets, as in the reference code; with
    `closing_sentinel` the next sentinel closes them, as in the paper's figure. The decoder reads `[PAD]`
    first, as in the reference code. Lengths are computed: 568 tokens have inputs of 512 and targets of 114.

    Special pieces of the text are kept. A span with one of them inside continues after it.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the sentinels.

    Raises:
        ValueError: if the tokenizer has too few sentinels.

    Example: four of eleven tokens in two spans. Each document of a row is corrupted on its own.

    >>> from firth.recipes.objectives.denoising import SpanCorruption
    >>> from firth.recipes.tokenizers.tokenizer import Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> sentinels = [f"<extra_id_{number}>" for number in (4, 3, 2, 1, 0)]
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *sentinels]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> config = SpanCorruption(noise_density=0.4, mean_span=2.0)
    >>> objective = SpanCorruptionObjective(config, Sequences(length=16), tokenizer)
    >>> row = {"tokens": tokenizer.tokenize(" ".join(words)), "chunk_lengths": tf.constant([11])}
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "decoder_token_ids", "label_ids"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())).replace(" [PAD]", ""))
    Thank <extra_id_0> me to your party last <extra_id_1> . [SEP]
    [PAD] <extra_id_0> you for inviting <extra_id_1> week
    <extra_id_0> you for inviting <extra_id_1> week [SEP]
    """

    rates = staticmethod(span_corruption_rates)

    _config: SpanCorruption

    def choose_noise(self, row: Row, text: Text, seed: tf.Tensor) -> Noise:
        """Returns random spans as the noise.

        Args:
            row: Tensors of one row, as `features.row_specs`; not used.
            text: Tokens of the row, as `read_text` returns them.
            seed: Seed, int32 or int64 [2].
        """
        counts = self.noise_counts(text)
        seeds = tf.random.split(seed, num=2, alg="philox")
        return random_spans(text, counts, self.span_counts(text, counts), self._config.random_roll, seeds)


class IidDenoisingObjective(SentinelObjective):
    """Tokens corrupted one by one; consecutive ones share a sentinel.

    This is the paper's worked example and its baseline. Of a document of n tokens `round(n x noise_density)`
    are corrupted, at least one and not all, each as likely as any other. That number is fixed, where drawing
    each token for itself would let it vary; the number of spans varies, and rows leave room for the most.

    All else is as in `SpanCorruptionObjective`, the arguments and errors included.

    Example:

    >>> import tensorflow as tf
    >>> from firth.recipes.objectives.denoising import IidDenoising
    >>> from firth.recipes.tokenizers.tokenizer import Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> sentinels = [f"<extra_id_{number}>" for number in (5, 4, 3, 2, 1, 0)]
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *sentinels]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> objective = IidDenoisingObjective(IidDenoising(noise_density=0.3), Sequences(length=16), tokenizer)
    >>> row = {"tokens": tokenizer.tokenize(" ".join(words)), "chunk_lengths": tf.constant([11])}
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "label_ids"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())).replace(" [PAD]", ""))
    Thank you for <extra_id_0> to your <extra_id_1> last week . [SEP]
    <extra_id_0> inviting me <extra_id_1> party [SEP]
    """

    rates = staticmethod(iid_denoising_rates)

    def choose_noise(self, row: Row, text: Text, seed: tf.Tensor) -> Noise:
        """Returns random tokens as the noise.

        Args:
            row: Tensors of one row, as `features.row_specs`; not used.
            text: Tokens of the row, as `read_text` returns them.
            seed: Seed, int32 or int64 [2].
        """
        return random_tokens(text, self.noise_counts(text), seed)
