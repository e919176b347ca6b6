"""The kinds of schedules of a learning rate, and what advice and the optimizer ask them."""

from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import Config


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

    Until the decay nothing depends on the number of steps. A run that is made longer goes on from its newest
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
    """Returns the values of the schedule that a plain name, such as `cosine`, stands for."""
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
