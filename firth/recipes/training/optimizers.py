"""Optimizers, and the schedules of their learning rates."""

from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import Config, Fraction


class ScheduleConfig(Config):
    """Base of the kinds of schedules, which say what the learning rate does after its warm-up."""

    climbs: ClassVar[bool] = True
    """True if the rate rises from zero in the steps of the warm-up."""

    def check(self, final_fraction: float) -> None:
        """Passes if the schedule can end at a share of its peak.

        Args:
            final_fraction: Share of the highest rate that is left at the last step.

        Raises:
            ValueError: if it cannot.
        """


class LinearScheduleConfig(ScheduleConfig):
    """On a straight line down to `final_fraction` of the rate at the last step."""

    kind: Literal["linear"] = "linear"


class CosineScheduleConfig(ScheduleConfig):
    """On half a cosine down to `final_fraction` of the rate at the last step."""

    kind: Literal["cosine"] = "cosine"


class ConstantScheduleConfig(ScheduleConfig):
    """At the rate of the end of the warm-up."""

    kind: Literal["constant"] = "constant"


class InverseSquareRootScheduleConfig(ScheduleConfig):
    """Constant for the steps of the warm-up, then falling with the root of the step (Raffel et al. 2019,
    section 3.1.2).
    """

    climbs: ClassVar[bool] = False

    kind: Literal["inverse_square_root"] = "inverse_square_root"


class WarmupStableDecayScheduleConfig(ScheduleConfig):
    """Constant after the warm-up, until the last steps decay it (Hu et al. 2024, "MiniCPM", section 4).

    Until the decay nothing depends on the number of steps. A run that is made longer resumes from its newest
    checkpoint, which may come after a decay; the rate is then what it was before.
    """

    kind: Literal["warmup_stable_decay"] = "warmup_stable_decay"
    decay_fraction: float = pydantic.Field(default=0.1, gt=0.0, le=1.0)
    """Share of the run's steps, at its end, in which the rate decays."""
    shape: Literal["linear", "one_minus_sqrt", "exponential"] = "one_minus_sqrt"
    """Way from the rate down to `final_fraction` of it: `linear`; `one_minus_sqrt`, which falls fastest at
    its beginning (Hägele et al. 2024, section 3.2); or `exponential`, by the same factor at each step, which
    needs a `final_fraction` above 0."""

    def check(self, final_fraction: float) -> None:  # noqa: D102
        if self.shape == "exponential" and not final_fraction:
            raise ValueError("final_fraction: shape: exponential never reaches 0; give a number above 0")


def _named(value: Any) -> Any:
    """Returns the values of the schedule of a plain name, such as `cosine`."""
    return {"kind": value} if isinstance(value, str) else value


_Kind = Annotated[
    LinearScheduleConfig
    | CosineScheduleConfig
    | ConstantScheduleConfig
    | InverseSquareRootScheduleConfig
    | WarmupStableDecayScheduleConfig,
    pydantic.Field(discriminator="kind"),
]
AnySchedule = Annotated[_Kind, pydantic.BeforeValidator(_named, json_schema_input_type=str | _Kind)]


Share = Annotated[float, pydantic.Field(ge=0, lt=1)]
Rate = Annotated[float, pydantic.Field(gt=0, le=1_000)]
Positive = Annotated[float, pydantic.Field(gt=0)]
KeptDtype = Literal["float32", "bfloat16"]
_BYTES = {"float32": 4, "bfloat16": 2}


class _Optimizer(Config):
    # Numbers that are kept for each weight, next to itself and its gradient.
    slots: ClassVar[int]
    # Bytes that the update of a weight holds, by the dtype of these numbers: here the weight anew.
    working: ClassVar[dict[str, int]] = {"float32": 4}
    # Whether it treats the matrices of blocks apart from other weights.
    by_matrix: ClassVar[bool] = False
    kept_in: ClassVar[KeptDtype] = "float32"
    """Dtype of the numbers that are kept for each weight."""

    learning_rate: Rate = 1e-4
    """Learning rate at the end of the warm-up."""
    schedule: AnySchedule = LinearScheduleConfig()
    """Learning rate after a linear warm-up, by name or with the values of its kind: `linear` or `cosine` down
    to `final_fraction` of the rate at the last step, `constant`, `warmup_stable_decay`, or
    `inverse_square_root`, which does not climb."""
    final_fraction: Fraction = 0.0
    """Share of `learning_rate` that is left at the last step."""
    warmup_steps: int = pydantic.Field(default=10_000, ge=0)
    """Steps from zero to `learning_rate`."""
    gradient_clip_norm: Positive | None = 1.0
    """Most that the global norm over all gradients may be; null turns clipping off."""

    @pydantic.model_validator(mode="after")
    def _schedule_can_end(self) -> "_Optimizer":
        self.schedule.check(self.final_fraction)
        return self

    @property
    def bytes_kept(self) -> int:
        """Bytes that are kept for each weight next to itself and its gradient."""
        return self.slots * _BYTES[self.kept_in]

    @property
    def bytes_working(self) -> int:
        """Bytes that the update of a weight holds next to them."""
        return self.working[self.kept_in]

    @property
    def own_values(self) -> dict[str, Any]:
        """Values of its own, by the names that Keras gives them."""
        return self.model_dump(exclude={"kind", *_Optimizer.model_fields})


class AdamWConfig(_Optimizer):
    """AdamW (Loshchilov and Hutter 2017)."""

    # Two moments.
    slots: ClassVar[int] = 2
    # In bfloat16, also both moments in float32, the bits that they are rounded by, and what the update is
    # made of.
    working: ClassVar[dict[str, int]] = {"float32": 4, "bfloat16": 24}
    kind: Literal["adamw"] = "adamw"
    weight_decay: float = pydantic.Field(default=0.01, ge=0)
    """Weight decay, which is not applied to biases and norms."""
    beta_1: Share = 0.9
    """Decay of the first moment."""
    beta_2: Share = 0.999
    """Decay of the second moment."""
    epsilon: Positive = 1e-6
    """Number added to the root of the second moment."""
    moments: KeptDtype = "float32"
    """Dtype that the moments are kept in. `bfloat16` takes half of their memory: each is rounded up or down
    at random when it is stored, and computed in float32."""

    @property
    def kept_in(self) -> KeptDtype:  # type: ignore[override]
        """Dtype of the moments."""
        return self.moments


class LambConfig(AdamWConfig):
    """LAMB: AdamW whose update is scaled by the norm of each weight (You et al. 2019), for large batches."""

    kind: Literal["lamb"] = "lamb"  # type: ignore[assignment]


class MuonConfig(AdamWConfig):
    """Muon for the matrices of blocks (Jordan et al. 2024), AdamW for embeddings, heads, norms and biases.

    The update of a matrix is its momentum made orthogonal, scaled to the root mean square of AdamW's updates
    (Liu et al. 2025, "Muon is Scalable for LLM Training", section 2.2), so that one learning rate suits both.
    """

    # Those of AdamW; a matrix has but one, which is not distinguished here.
    by_matrix: ClassVar[bool] = True
    kind: Literal["muon"] = "muon"  # type: ignore[assignment]
    momentum: Share = 0.95
    """Share of a matrix's momentum that is kept at each step."""
    newton_schulz_steps: int = pydantic.Field(default=5, ge=1, le=100)
    """Steps of the iteration that makes a matrix orthogonal."""
    update_rms: Positive = 0.2
    """Root mean square of a matrix's update at a learning rate of 1."""


class AdafactorConfig(_Optimizer):
    """Adafactor: Adam with the second moments of a matrix kept by row and column (Shazeer and Stern 2018)."""

    # Rows, columns and vectors are less than a hundredth of the weights.
    slots: ClassVar[int] = 0
    # The update, and the weight anew.
    working: ClassVar[dict[str, int]] = {"float32": 8}
    kind: Literal["adafactor"] = "adafactor"
    learning_rate: Rate = 1e-2
    """Learning rate of the update in proportion to the root mean square of the weight."""
    schedule: AnySchedule = InverseSquareRootScheduleConfig()
    gradient_clip_norm: Positive | None = None
    beta_2_decay: float = pydantic.Field(default=-0.8, lt=0)
    """Exponent. The second moment's decay at step t is 1 - t to this power."""
    clip_threshold: Positive = 1.0
    """Most that the root mean square of an update may be."""


class AdagradConfig(_Optimizer):
    """Adagrad (Duchi et al. 2011), which ELMo was trained with."""

    # One sum.
    slots: ClassVar[int] = 1
    working: ClassVar[dict[str, int]] = {"float32": 4, "bfloat16": 12}
    kind: Literal["adagrad"] = "adagrad"
    learning_rate: Rate = 0.2
    schedule: AnySchedule = ConstantScheduleConfig()
    warmup_steps: int = pydantic.Field(default=0, ge=0)
    gradient_clip_norm: Positive | None = 10.0
    initial_accumulator: float = pydantic.Field(default=1.0, ge=0)
    """Value that the sums of squared gradients start from."""
    accumulator: KeptDtype = "float32"
    """Dtype that these sums are kept in. `bfloat16` takes half of their memory: each is rounded up or down at
    random when it is stored, and computed in float32."""

    @property
    def kept_in(self) -> KeptDtype:  # type: ignore[override]
        """Dtype of the sums."""
        return self.accumulator

    @property
    def own_values(self) -> dict[str, Any]:
        """The sums' first value, and their dtype."""
        return {"initial_accumulator_value": self.initial_accumulator, "moments": self.accumulator}


AnyOptimizer = Annotated[
    AdamWConfig | LambConfig | MuonConfig | AdafactorConfig | AdagradConfig,
    pydantic.Field(discriminator="kind"),
]
