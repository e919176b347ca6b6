"""What the objectives share that predict masked tokens."""

import tensorflow as tf

from firth import features
from firth.objectives.base import Features, ObjectiveFunction, Row, Specs, Tokenizer
from firth.objectives.transforms.layout import Frame, Layout
from firth.objectives.transforms.masking import Choice, ChosenTokens, Corruption
from firth.objectives.transforms.pairs import Pairs


class MaskingObjective(ObjectiveFunction):
    """Chooses tokens and masks or replaces them; a document is `[CLS] x1 ... xn [SEP]` unless said otherwise.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the pieces drawn at random.
    """

    def _prepare(self, tokenizer: Tokenizer) -> None:
        config = self._config
        self._choice = Choice(config.mask_rate, config.max_predictions, self._sequences.length, tokenizer)
        self._corruption = Corruption(config, tokenizer)
        self._frame = Frame(before=(tokenizer.cls_id,), after=(tokenizer.sep_id,))

    def _maskable(self, layout: Layout, row: Row) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns what `Choice.maskable` does, at the rate of the row's place in the run."""
        progress = row.get(features.PROGRESS, 1.0)
        return self._choice.maskable(layout, self._config.mask_rate_at(progress))

    def specs(self) -> Specs:
        """Returns the specs of what a call gives, for one example."""
        return {
            **features.encoder_specs(self._sequences.length),
            **features.selection_specs(self._config.max_predictions),
        }

    def _masked(
        self, layout: Layout, chosen: ChosenTokens, seeds: tf.Tensor, groups: tf.Tensor | None = None
    ) -> Features:
        """Returns the features of a layout whose chosen tokens are corrupted."""
        return {
            **layout.encoder_features(),
            features.TOKEN_IDS: self._corruption.corrupt(layout.token_ids, chosen, seeds, groups),
            **chosen.features(),
        }

    def _pair_features(self, task: str, pairs: Pairs, layout: Layout) -> Features:
        """Returns the labels of a task on pairs, as `features.pair_specs`."""
        return {
            features.POOLED_POSITIONS: layout.starts,
            f"{task}_labels": tf.cast(pairs.is_other, tf.int32),
            f"{task}_weights": tf.cast(pairs.is_pair, tf.float32),
        }
