"""Base class of all backbones, and the state that a recurrent one carries from batch to batch."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import keras
from keras import ops

from firth import features as names
from firth.layers.elements.custom_gradient import gather_tokens
from firth.layers.elements.extensible_layer import Additions
from firth.layers.elements.seeds import plain_seed, seed_generator, truncated_normal
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.low_rank import enable_lora
from firth.models.features_model import FeaturesModel

# Beginnings of the paths of weights, by stage, from the inputs to the outputs.
Stages: TypeAlias = tuple[tuple[str, ...], ...]


class Backbone(FeaturesModel):
    """The part of a model from features to hidden states; `_make` makes its parts.

    `backbone({"token_ids": ids})` suffices for rows of one document, and `padding_mask` next to it says where
    they are padding; see `complete`.

    Args:
        vocabulary_size: Number of rows of the token embeddings.
        config: Shape of the model, of the subclass's `config_type`, or a mapping of its values.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Raises:
        ValueError: for a value of `config` that does not fit, with the nearest valid name.
    """

    config_type: ClassVar[Any]
    # Feature with a place for each of the states.
    _places: ClassVar[str] = names.TOKEN_IDS

    def __init__(
        self, vocabulary_size: int, config: Any, seed: Seed = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.config: Any = self.config_type.of(config)
        self.vocabulary_size = vocabulary_size
        self.seed = plain_seed(seed)
        self.width = self.config.width
        self._initializer = truncated_normal(self.config.initializer_stddev, seed_generator(seed))
        self._lora: dict[str, Any] = {}
        self._make()
        # A layer that is built tracks no more layers, so it is here from the start.
        self.added = Additions(name="added")

    def _make(self) -> None:
        """Makes the parts, each an attribute."""
        raise NotImplementedError

    def build(self, features_shape: Any = None) -> None:
        """Creates all weights; they depend on no input shape.

        Args:
            features_shape: Shapes of the features; not read.
        """
        self._build_parts()
        self._all_are_built()

    def _build_parts(self) -> None:
        """Creates the weights of the parts."""
        raise NotImplementedError

    def enable_lora(
        self,
        rank: int,
        target_layer_names: Sequence[str] | None = None,
        lora_alpha: float | None = None,
    ) -> "Backbone":
        """Adds LoRA to projections and freezes all other weights of the backbone, before `compile`.

        Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models", section 4.1: the difference of a
        projection from what it was is `(lora_alpha / rank) B A x`, and only A and B are trained. At first the
        states are as before. Weights of heads stay as they are. `firth.tuning.merge` makes the difference a
        part of the projections of a model with heads.

        Args:
            rank: Rows of A and columns of B.
            target_layer_names: Patterns of the projections, as `targets` of `firth.recipes.LoRA`: `query`,
                `encoder/block_0/*`; None for query and value of each attention.
            lora_alpha: Number that the product is multiplied by after it is divided by the rank; None for the
                rank.

        Returns:
            The backbone.

        Raises:
            ValueError: for a rank that is not an int from 1 to the narrowest target, a name that no
                projection has, with the nearest, and a backbone that has LoRA.

        Example:

        >>> from firth.models import MaskedTransformerBackbone
        >>> config = {"layers": 1, "width": 8, "attention": {"heads": 2}}
        >>> [each.path.split("/", 2)[2] for each in
        ...  MaskedTransformerBackbone(10, config).enable_lora(2).trainable_weights][:2]
        ['encoder/block_0/attention/query/lora/down', 'encoder/block_0/attention/query/lora/up']
        """
        if not self.built:
            self.build()
        self._lora = dict(enable_lora(self, rank, target_layer_names, lora_alpha))
        return self

    @property
    def lora(self) -> dict[str, Any]:
        """Arguments of `enable_lora`; empty without LoRA, and after it was merged."""
        return dict(self._lora) if self.added.held else {}

    @property
    def seed_generator(self) -> keras.random.SeedGenerator:
        """Generator of dropout's draws; its `state`, int [2], is (seed, draws so far)."""
        return self._initializer.seed

    @property
    def own_encoder(self) -> keras.layers.Layer | None:
        """The stack that reads the input alone, next to a decoder; None where one stack reads all."""
        return None

    @property
    def stages(self) -> Stages:
        """Its weights from the inputs to the outputs, by the paths that theirs begin with, below its own.

        The first stage holds the weights before the first layer, and those that all layers share. Each other
        stage is a layer, as many as `config.own_layers`; the norm after the last layer belongs to it. Stacks
        next to each other end together: their last layers are one stage, and so on downwards (Raffel et al.
        2019, section 3.5.1, "gradual unfreezing").

        Each weight is in one stage.
        """
        raise NotImplementedError

    def states_at(
        self, features: Mapping[str, Tensor], wanted: Tensor, training: bool | None = None
    ) -> Tensor:
        """Returns the states at some places of each row, float [batch, wanted, width].

        Args:
            features: Features as in the call.
            wanted: int32 [batch, wanted], places of tokens.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        return gather_tokens(self(features, training=training), wanted)

    @property
    def _common(self) -> dict[str, Any]:
        return {"seed": self.seed_generator, "dtype": self.dtype_policy}

    def compute_output_shape(self, features_shape: dict[str, Shape]) -> Shape:
        """The shape of the ids, and `width`.

        Args:
            features_shape: Shapes of the features by their names; that of `token_ids` is (batch, length).
        """
        return (*features_shape[names.TOKEN_IDS], self.width)

    def compute_mask(self, features: Any, previous_mask: Any) -> Any:
        """The Keras mask of the tokens that there are states of, if they have one.

        Args:
            features: Features; not read.
            previous_mask: Masks of the features by their names.
        """
        return (previous_mask or {}).get(self._places)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **keras.layers.Layer.get_config(self),
            "vocabulary_size": self.vocabulary_size,
            "config": self.config.model_dump(mode="json"),
            "seed": self.seed,
            **({"lora": self.lora} if self.lora else {}),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Returns the backbone of a config, with LoRA if it had some.

        Args:
            config: Config that `get_config` returned.
            custom_objects: Classes by name, as in `keras.Model.from_config`.
        """
        backbone = super().from_config(
            {key: value for key, value in config.items() if key != "lora"}, custom_objects
        )
        return backbone.enable_lora(**config["lora"]) if "lora" in config else backbone


@keras.saving.register_keras_serializable(package="firth")
class CarriedState(keras.layers.Layer):
    """Two variables, one row for each row of a batch. They are a part of training, not of the model.

    Checkpoints of a training run hold them, so that it resumes as if it had not stopped. A saved model does
    not: it starts each text with zeros.
    """

    def __init__(self, widths: Iterable[Iterable[int]], **kwargs: Any) -> None:
        super().__init__(trainable=False, **kwargs)
        self.widths = tuple(tuple(shape) for shape in widths)
        self.parts: list[keras.Variable] = []

    def build(self, rows: int) -> None:
        """Creates the variables, float32 zeros of shape [rows, *widths]."""
        self.parts = [
            self.add_weight(
                name=f"part_{place}",
                shape=(rows, *shape),
                initializer="zeros",
                trainable=False,
                autocast=False,
            )
            for place, shape in enumerate(self.widths)
        ]

    def read(self, rows: Tensor | int | None) -> tuple[Tensor, ...]:
        """Returns the state as the last batch left it."""
        if not self.parts:
            raise ValueError("`carry_state` needs the number of rows: call `backbone.carry(rows)` once")
        if isinstance(rows, int) and rows != self.parts[0].shape[0]:
            raise ValueError(f"a batch has {rows} rows, the state of `carry_state` {self.parts[0].shape[0]}")
        return tuple(ops.convert_to_tensor(part) for part in self.parts)

    def write(self, state: Iterable[Tensor]) -> None:
        """Takes the state that a batch leaves; no gradient goes back through it.

        Args:
            state: Float tensors [rows, *widths], one for each variable.
        """
        for part, value in zip(self.parts, state):
            part.assign(ops.stop_gradient(value))

    def save_own_variables(self, store: Any) -> None:
        """Saves nothing."""

    def load_own_variables(self, store: Any) -> None:
        """Loads nothing."""

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "widths": self.widths}


def stages_of(before: Iterable[keras.layers.Layer | None], *stacks: Any) -> Stages:
    """Returns the stages of a backbone; see `Backbone.stages`.

    Example:

    >>> from firth.layers import BiLSTM
    >>> stages_of([keras.layers.Dense(4, name="words")], BiLSTM(2, 6, 4, name="encoder"))
    (('words',), ('encoder/layer_0',), ('encoder/layer_1',))
    """
    parts = [[_below(stack, names) for names in stack.parts] for stack in stacks]
    first = [layer.name for layer in before if layer is not None]
    layers = itertools.zip_longest(*(reversed(own) for _, *own in parts), fillvalue=())
    from_the_top = [tuple(itertools.chain(*each)) for each in layers]
    return ((*first, *itertools.chain(*(shared for shared, *_ in parts))), *reversed(from_the_top))


def _below(stack: keras.layers.Layer, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{stack.name}/{name}" for name in names)
