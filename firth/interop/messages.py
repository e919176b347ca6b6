"""The message about a model that was read."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Read:
    """What was read of a checkpoint.

    Attributes:
        fresh: Paths of our weights that the checkpoint lacks; they are as the recipe's seed made them.
        surplus: Names of tensors that the model has no place for. They are not in the bundle, so that they do
            not go out again.
        stored: By path of our weights, the dtypes of the tensors that they were made of, as safetensors calls
            them. The bundle keeps them for the way out.
        notes: Sentences about what else does not come in, or is otherwise here.
        length: Most tokens of a text that are read; None where nothing was written.
        length_reason: File and key that say it, or why it is so.
        reason: Why weights are fresh whose tensors the files have; empty if the files lack them.
    """

    fresh: tuple[str, ...]
    surplus: tuple[str, ...]
    stored: Mapping[str, list[str]] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reason: str = ""
    length: int | None = None
    length_reason: str = ""

    @property
    def has_fresh_heads(self) -> bool:
        """True if a head is fresh, so that what it answers is random."""
        return any(path.startswith("heads/") for path in self.fresh)

    def sentences(self, most: int) -> list[str]:
        """Returns sentences for the user: about the weights, and the notes.

        Example:

        >>> Read(("heads/masked_lm_head/bias",), ()).sentences(most=5)
        ['fresh, and random until trained, since the files lack it: heads/masked_lm_head/bias']
        """
        from firth.recipes.base.errors import first_of

        said = []
        if self.fresh:
            names = first_of(self.fresh, most)
            reason = self.reason or f"the files lack {_it(self.fresh)}"
            said.append(f"fresh, and random until trained, since {reason}: {names}")
        if self.surplus:
            names = first_of(self.surplus, most)
            said.append(f"left out, since the model has no place for {_it(self.surplus)}: {names}")
        if self.length is not None:
            said.append(
                f"reads up to {self.length} tokens of a text, special ones included: {self.length_reason}"
            )
        return [*said, *self.notes]


def _it(names: tuple[str, ...]) -> str:
    return "it" if len(names) == 1 else "them"


@dataclasses.dataclass(frozen=True)
class Written:
    """What was written in another library's format.

    Attributes:
        files: Paths of the files, below the folder.
        notes: Sentences about what the files do not hold, or hold otherwise than the bundle.
    """

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()
