"""Ways to choose the next token of a text."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE, Config

Share = Annotated[float, pydantic.Field(gt=0.0, le=1.0)]


class Sampler(Config):
    """The base of the ways to choose tokens.

    `firth.generation.SAMPLERS` has what decodes by each kind.
    """

    is_random: ClassVar[bool] = False
    """True if the text depends on the request's seed."""
    speculates: ClassVar[bool] = False
    """True if tokens may be guessed and then kept or refused one by one."""
    chooses_alone: ClassVar[bool] = False
    """True if a token of a text is chosen from the logits after the tokens before it, and nothing else."""
    reads_ahead: ClassVar[int] = 0
    """Places that it reads after the last but one of a text's tokens."""

    @property
    def texts_of_row(self) -> int:
        """Number of texts that are written side by side."""
        return 1

    if TYPE_CHECKING:
        kind: str

    @property
    def fixed(self) -> tuple[Any, ...]:
        """The kind, with values that a graph is made for, which are not tensors of a batch; here none."""
        return (self.kind,)


class Greedy(Sampler):
    """The likeliest token at each place; of equally likely ones that with the smallest id."""

    speculates: ClassVar[bool] = True
    chooses_alone: ClassVar[bool] = True
    temperature: ClassVar[float] = 0.0

    kind: Literal["greedy"] = "greedy"


class Sampling(Sampler):
    """Each token is drawn at random from the model's distribution, sharpened and cut as the values say.

    The cuts are made one after another, in the order of the values below, and each reads what the cut before
    it has left.
    """

    is_random: ClassVar[bool] = True
    speculates: ClassVar[bool] = True
    chooses_alone: ClassVar[bool] = True

    kind: Literal["sample"] = "sample"
    temperature: Annotated[float, pydantic.Field(ge=0.0, le=1_000.0)] = 1.0
    """Number that logits are divided by; at 0 the likeliest token is taken."""
    top_k: Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)] | None = None
    """Number of likeliest tokens that are kept (Fan et al. 2018, section 5.4); null for all."""
    top_p: Share = 1.0
    """Least probability, in sum, of the likeliest tokens that are kept (Holtzman et al. 2020, section 3.1); 1
    for all."""
    min_p: Annotated[float, pydantic.Field(ge=0.0, le=1.0)] = 0.0
    """Least probability of a token, as a share of the likeliest token's (Nguyen et al. 2024, section 3); 0
    for all."""
    typical_p: Share = 1.0
    """Least probability, in sum, of the tokens that are kept because their information is nearest to what is
    expected (Meister et al. 2023, section 4); 1 for all."""


class BeamSearch(Sampler):
    """The likeliest texts that are found when several beginnings are written on side by side.

    Values are named and mean what they do in Hugging Face's transformers. A text's score is the sum of the
    logarithms of its tokens' probabilities, divided by their number to the power of `length_penalty` (Wu et
    al. 2016, section 7, has another divisor).
    """

    kind: Literal["beam"] = "beam"
    beams: Annotated[int, pydantic.Field(ge=1, le=1_024)] = 4
    """Number of beginnings."""
    length_penalty: Annotated[float, pydantic.Field(ge=-100.0, le=100.0)] = 1.0
    """Power of the number of tokens that a text's score is divided by; above 0 it favours long texts, below 0
    short ones."""
    n_best: Annotated[int, pydantic.Field(ge=1, le=1_024)] = 1
    """Number of texts to return, the best first."""
    early_stopping: bool | Literal["never"] = False
    """When the search ends. True: as soon as as many texts have ended as there are beams. False: when no
    beginning, at its present length, scores above the worst of them. `never`: when none would at the greatest
    length."""

    @pydantic.model_validator(mode="after")
    def _check(self) -> "BeamSearch":
        if self.n_best > self.beams:
            raise ValueError(f"n_best is {self.n_best}, more than the {self.beams} beams")
        return self

    @property
    def texts_of_row(self) -> int:
        """Number of texts that are written side by side."""
        return self.beams

    @property
    def fixed(self) -> tuple[Any, ...]:
        """The kind and all values: each set of them has a graph of its own."""
        return (self.kind, self.beams, self.length_penalty, self.n_best, self.early_stopping)


class ContrastiveSearch(Sampler):
    """Of the likeliest tokens that which balances its probability and how little it repeats (Su et al. 2022).

    See "A Contrastive Framework for Neural Text Generation", section 3.2, equation 5.
    """

    reads_ahead: ClassVar[int] = 1

    kind: Literal["contrastive"] = "contrastive"
    penalty_alpha: Annotated[float, pydantic.Field(ge=0.0, le=1.0)] = 0.6
    """Weight of the penalty, the greatest cosine of the angle between the token's state and that of any token
    before it; the probability weighs what is left to 1."""
    top_k: Annotated[int, pydantic.Field(ge=1, le=1_024)] = 4
    """Number of likeliest tokens that are compared."""

    @property
    def fixed(self) -> tuple[Any, ...]:
        """The kind and all values: each set of them has a graph of its own."""
        return (self.kind, self.penalty_alpha, self.top_k)


AnySampler = Annotated[
    Union[Greedy, Sampling, BeamSearch, ContrastiveSearch], pydantic.Field(discriminator="kind")
]
