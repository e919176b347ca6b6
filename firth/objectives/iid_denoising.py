"""Tokens corrupted one by one (Raffel et al. 2019, "T5", section 3.1.4)."""

import tensorflow as tf

from firth.objectives.base import Row, SentinelObjective
from firth.objectives.rates.corruption_rates import iid_denoising_rates
from firth.objectives.transforms.documents import Text
from firth.objectives.transforms.spans import Noise, random_tokens


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
