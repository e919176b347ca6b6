"""The signatures `prefill` and `step` of models that write in slots, and those to and from their tokens.

A slot holds a text that is being written. A server lets a free slot read a prompt by `prefill`, and writes a
token in each active slot by `step`. One request comes after another: they change what the model keeps.
"""

import dataclasses
import functools
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.constraints.token_bytes import TokenBytes
from firth.generation.controls import mask_words
from firth.generation.framing import framing_of
from firth.generation.readers import reader_of
from firth.generation.slots import Slots, SlotWriter, joined, padded
from firth.generation.writer import RUNNING
from firth.recipes.run.fit import slot_sequences
from firth.serving.continuation import PARAMETERS, check_values, controls_of_values
from firth.serving.served_model import Served
from firth.serving.signature import Output, TensorSignature, check
from firth.serving.slots.requests import BIASES, GREATEST_BIAS
from firth.serving.slots.texts import TEXT_SIGNATURES, SlotTexts

_LOST = (
    "the slots lost their texts, since a step failed, was cancelled or is still running; "
    "ask one request after another, and let each slot read its prompt again"
)
Function = Callable[..., dict[str, tf.Tensor]]
Bind = Callable[[Callable[..., Any]], Callable[..., Any]]


class SlotSignatures(SlotTexts):
    """The signatures of a model that writes in slots, and the tensors that it keeps between requests.

    Attributes:
        kept: Texts of the slots, which the model keeps.
    """

    def __init__(self, served: Served, bind: Bind = lambda function: function) -> None:
        recipe, self._bind = served.recipe, bind
        # The rows of slots may be shorter than those of the recipe.
        recipe = recipe.model_copy(update={"sequences": slot_sequences(recipe)})
        self._count, self._rows = recipe.export.slots, recipe.tokenizer.vocabulary_size
        self._top = recipe.export.top_log_probabilities
        self._descriptions = slot_descriptions(self._count, mask_words(self._rows), self._top)
        super().__init__(framing_of(recipe, served.tokenizer))
        reader = reader_of(served.model, served.tokenizer, self._framing.start)
        self._writer = SlotWriter(reader, self._framing)
        begun = tf.function(bind(self._writer.begun), autograph=False).get_concrete_function(
            tf.TensorSpec([1, self._framing.most_read], tf.int32), tf.TensorSpec([1], tf.int32)
        )
        self.kept = KeptTensors(tf.nest.map_structure(self._of_slots, begun.structured_outputs))

    def _of_slots(self, one: tf.Tensor) -> tf.TensorSpec:
        return tf.TensorSpec([self._count, *one.shape[1:]], one.dtype)

    @functools.cached_property
    def _may_write(self) -> npt.NDArray[np.int32]:
        """Tokens that may be written, as a mask has them, int32 [words]."""
        bits = np.zeros(32 * mask_words(self._rows), bool)
        bits[: self._rows] = self._framing.may_write
        return np.packbits(bits, bitorder="little").view("<i4")

    @property
    def token_bytes(self) -> TokenBytes:
        """Bytes of the model's tokens, which constraints read."""
        framing = self._framing
        return TokenBytes.of(framing.tokenizer, framing.may_write, framing.end_id)

    def functions(self) -> dict[str, Function]:
        """Returns the signatures by name."""
        return {
            name: tf.function(
                self._bind(getattr(self, name)),
                input_signature=described.specs,
                autograph=False,
            )
            for name, described in self._descriptions.items()
        }

    def describe_signatures(self) -> dict[str, Any]:
        """Returns the description of each signature, fit for JSON."""
        return {name: each.describe() for name, each in self._descriptions.items()}

    def describe(self) -> dict[str, Any]:
        """Returns the description of the slots, fit for JSON."""
        return {
            "count": self._count,
            "prompted_with": self._framing.goal.prompted_with,
            "prompt_lengths": self._writer.lengths(),
            "end_id": self._framing.end_id,
            "vocabulary": self._rows,
            "mask_words": mask_words(self._rows),
            "biases": BIASES,
            "top_log_probabilities": self._top,
            "parameters": {name: dataclasses.asdict(each) for name, each in PARAMETERS.items()},
        }

    def prefill(self, slot: tf.Tensor, ids: tf.Tensor) -> dict[str, tf.Tensor]:
        """Lets a slot read a prompt, after which `step` writes its text. What the slot held is forgotten.

        Args:
            slot: Number of the slot, int32 [1]; -1 for none: the prompt is read, and nothing is kept.
            ids: Tokens of the prompt with its special ones, int32 [1, length]; see `tokenize`.

        Returns:
            room: int32 [1], most tokens that can be written after it.

        Raises (when run):
            tf.errors.InvalidArgumentError: if there is no such slot, or no such token, or the prompt is empty
                or longer than is read.
        """
        length, lengths = tf.shape(ids)[1:], self._writer.lengths()
        checks = [
            check((slot >= -1) & (slot < self._count), f"slot: must be at least -1 and below {self._count}"),
            check((length > 0) & (length <= lengths[-1]), f"ids: a prompt has 1 to {lengths[-1]} tokens"),
            check((ids >= 0) & (ids < self._rows), f"ids: must be at least 0 and below {self._rows}"),
        ]
        with tf.control_dependencies(checks):
            ids = tf.identity(ids)
        known, number = self.kept.restored(), tf.searchsorted(tf.constant(lengths), length)[0]
        reads = [functools.partial(self._begun, ids, each, known) for each in lengths]
        begun = tf.switch_case(number, reads) if len(reads) > 1 else reads[0]()
        self.kept.assign(joined(known, slot[0], begun))
        return {"room": begun.room}

    def _begun(self, ids: tf.Tensor, length: int, slots: Slots) -> Slots:
        whole = tf.pad(ids, [(0, 0), (0, length - tf.shape(ids)[1])])
        return padded(self._writer.begun(tf.ensure_shape(whole, [1, length]), tf.shape(ids)[1:]), slots)

    def step(
        self,
        active: tf.Tensor,
        mask: tf.Tensor,
        bias_ids: tf.Tensor,
        biases: tf.Tensor,
        *values: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Writes a token in each active slot whose text has not ended; the others stay as they are.

        Args:
            active: Which slots take part, bool [slots].
            mask: Which tokens may come next in each slot, int32 [slots, words]: bit `id % 32` of word
                `id // 32`. -1 lets all come.
            bias_ids: Tokens with a bias, int32 [slots, 16]; 0 where a slot has fewer.
            biases: Numbers added to their logits, float32 [slots, 16]; 0 where a slot has fewer.
            *values: Values of `PARAMETERS` for each slot, [slots] each, in their order.

        Returns:
            token: int32 [slots], the token that was written; 0 in a slot that wrote no token.
            log_probability: float32 [slots], of the token among those that may be written, before the mask,
                biases, penalties and the sampler; 0 in a slot that wrote no token.
            ended: int32 [slots], 0 if the text continues, 1 if its end was written, 2 if it has all tokens
                that were asked for, or that there is room for.
            top_ids: int32 [slots, tokens], the likeliest tokens, as many as `export.top_log_probabilities`
                says, the likeliest first; 0 in a slot that wrote no token. Left out for none.
            top_log_probabilities: float32 [slots, tokens], theirs, as `log_probability` is the token's.

        Raises (when run):
            tf.errors.InvalidArgumentError: for a value that is not valid, naming the parameter; for an active
                slot that has read no prompt, or whose mask lets no token come that may be written. While a
                step is running, and after one that failed half way or was cancelled, no slot holds a text;
                after the last two, a slot holds one again once it has read a prompt.
        """
        values = tuple(
            tf.where(active, each, tf.constant(parameter.default, parameter.dtype))
            for each, parameter in zip(values, PARAMETERS.values(), strict=True)
        )
        bias_ids, biases = (tf.where(active[:, tf.newaxis], each, 0) for each in (bias_ids, biases))
        controls = controls_of_values(check_values(values))
        kept: Slots = self.kept.nest
        with tf.control_dependencies([check(~self.kept.are_lost(), f"active: {_LOST}")]):
            room, ended = kept.room.read(), kept.writing.ended.read()
        goes_on = active & (ended == RUNNING)
        may_write = tf.reduce_any(tf.bitwise.bitwise_and(mask, tf.constant(self._may_write)) != 0, axis=1)
        checks = [
            check(~active | (room > 0), "active: a slot has read no prompt"),
            check(~goes_on | may_write, "mask: a slot has no token that may be written"),
            check(
                (bias_ids >= 0) & (bias_ids < self._rows),
                f"bias_ids: must be at least 0 and below {self._rows}",
            ),
            check(
                tf.abs(biases) <= GREATEST_BIAS,
                f"biases: must be at least -{GREATEST_BIAS} and at most {GREATEST_BIAS}",
            ),
        ]
        with tf.control_dependencies(checks):
            active, bias_ids = tf.identity(active), tf.identity(bias_ids)
            slots = self.kept.taken()
        controls = controls._replace(bias_ids=bias_ids, biases=biases)
        slots, scores = self._writer.stepped(slots, active, controls, mask)
        self.kept.assign(slots)
        writing = slots.writing
        # The token's own is of the same tensor as those of the likeliest: clients compare them for equality.
        own = tf.gather(scores, writing.token, batch_dims=1)
        found = {
            "token": tf.where(goes_on, writing.token, 0),
            "log_probability": tf.where(goes_on, own, 0.0),
            "ended": writing.ended,
        }
        if self._top:
            likeliest, is_written = tf.math.top_k(scores, self._top), goes_on[:, tf.newaxis]
            found["top_ids"] = tf.where(is_written, likeliest.indices, 0)
            found["top_log_probabilities"] = tf.where(is_written, likeliest.values, 0.0)
        return found


class KeptTensor(tf.saved_model.experimental.TrackableResource):
    """A variable that starts at zero when a model is loaded, and takes no room in its checkpoint."""

    def __init__(self, spec: tf.TensorSpec) -> None:
        super().__init__()
        self._spec = spec
        # In a session variables of the same name are the same one.
        self._name = f"kept_{uuid.uuid4().hex}"

    def _create_resource(self) -> tf.Tensor:
        # It is empty while a value is taken.
        shape = [None] * self._spec.shape.rank
        return tf.raw_ops.VarHandleOp(dtype=self._spec.dtype, shape=shape, shared_name=self._name)

    def _initialize(self) -> None:
        self.assign(self.zeros())

    def zeros(self) -> tf.Tensor:
        """Returns the value that it starts with."""
        return tf.zeros(self._spec.shape, self._spec.dtype)

    def read(self) -> tf.Tensor:
        """Returns the value."""
        return tf.ensure_shape(self._read(), self._spec.shape)

    def taken(self) -> tf.Tensor:
        """Returns the value, which this variable holds no more: it can be changed in place."""
        value = self._read()
        with tf.control_dependencies([value]):
            emptied = self.assign(tf.zeros([0] * self._spec.shape.rank, self._spec.dtype))
        with tf.control_dependencies([emptied]):
            return tf.ensure_shape(value, self._spec.shape)

    def restored(self, is_lost: tf.Tensor) -> tf.Tensor:
        """Returns the value, or zeros if it was taken and is lost.

        Args:
            is_lost: Whether it is, bool [].
        """
        value = self._read()
        return tf.cond(is_lost, self.zeros, lambda: tf.ensure_shape(value, self._spec.shape))

    def assign(self, value: tf.Tensor) -> Any:
        """Replaces the value, and returns the operation that does."""
        return tf.raw_ops.AssignVariableOp(resource=self.resource_handle, value=value)

    def _read(self) -> tf.Tensor:
        return tf.raw_ops.ReadVariableOp(resource=self.resource_handle, dtype=self._spec.dtype)


class KeptTensors:
    """A nest of tensors that an exported model keeps between requests.

    A request that changes them in place takes them, and assigns them at its end. If it fails or is cancelled
    between, they are lost. Another request that comes meanwhile may find them lost too.

    Attributes:
        nest: Variables, in a nest.
        variables: All variables, which the model must track.
    """

    def __init__(self, specs: Any) -> None:
        self._tensors = [KeptTensor(each) for each in tf.nest.flatten(specs)]
        self._are_taken = KeptTensor(tf.TensorSpec([], tf.bool))
        self.nest = tf.nest.pack_sequence_as(specs, self._tensors)
        self.variables = [*self._tensors, self._are_taken]

    def are_lost(self) -> tf.Tensor:
        """Returns whether a request took the values and has not assigned them, bool []."""
        return self._are_taken.read()

    def restored(self) -> Any:
        """Returns the values, a nest of tensors; zeros where they are lost."""
        is_lost = self.are_lost()
        return tf.nest.map_structure(lambda each: each.restored(is_lost), self.nest)

    def taken(self) -> Any:
        """Returns the values, a nest of tensors that can be changed in place. `assign` must follow."""
        with tf.control_dependencies([self._are_taken.assign(tf.constant(True))]):
            return tf.nest.map_structure(lambda each: each.taken(), self.nest)

    def assign(self, values: Any) -> None:
        """Replaces the values."""
        pairs = zip(self._tensors, tf.nest.flatten(values), strict=True)
        with tf.control_dependencies([variable.assign(value) for variable, value in pairs]):
            self._are_taken.assign(tf.constant(False))


def slot_descriptions(count: int | str, words: int | str, top: int | str) -> dict[str, TensorSignature]:
    """Returns the signatures of slots by name.

    Args:
        top: Number of likeliest tokens that `step` returns, or its name.
    """

    def of_slots(meaning: str, dtype: str = "int32", *more: int | str) -> Output:
        return Output(meaning, dtype, (count, *more))

    likeliest = {
        "top_ids": of_slots("likeliest tokens, the likeliest first", "int32", top),
        "top_log_probabilities": of_slots(
            "natural logarithms of their probabilities, as that of the token", "float32", top
        ),
    }
    return {
        "prefill": TensorSignature(
            "Lets a slot read a prompt; what the slot held is forgotten.",
            {
                "slot": Output("number of the slot; -1 for none", "int32", (1,)),
                "ids": Output("tokens of the prompt with its special ones", "int32", (1, "tokens")),
            },
            {"room": Output("most tokens that can be written after it", "int32", (1,))},
        ),
        "step": TensorSignature(
            "Writes a token in each active slot whose text has not ended.",
            {
                "active": of_slots("whether the slot takes part", "bool"),
                "mask": of_slots("bits of the tokens that may come next, -1 for all", "int32", words),
                "bias_ids": of_slots("tokens with a bias; 0 where there are fewer", "int32", BIASES),
                "biases": of_slots(
                    "numbers added to their logits; 0 where there are fewer", "float32", BIASES
                ),
                **{name: of_slots(each.meaning, each.dtype) for name, each in PARAMETERS.items()},
            },
            {
                "token": of_slots("token that was written; 0 in a slot that wrote no token"),
                "log_probability": of_slots(
                    "natural logarithm of its probability, among the tokens that may be written and before "
                    "mask, biases, penalties and the sampler; 0 in a slot that wrote no token",
                    "float32",
                ),
                "ended": of_slots("0 while the text goes on, 1 if its end was written, 2 if it is full"),
                **(likeliest if top else {}),
            },
        ),
        **TEXT_SIGNATURES,
    }
