"""Text in and text out, by guesses of a smaller model or of the text so far."""

from typing import Any

from firth.generation.generator import Generator
from firth.generation.samplers import SAMPLERS
from firth.generation.speculative.proposals import DraftProposer, LookupProposer
from firth.generation.speculative.speculative_writer import SpeculativeWriter


class SpeculativeGenerator(Generator):
    """Writes the texts of a generator by guesses, in fewer readings of its model.

    Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding". Greedy texts are those
    of the generator. The last `tokens` places of a model's rows are for guesses, so that a text may be that
    much shorter where it would have filled them.

    Args:
        target: Generator whose texts are wanted.
        draft: Generator of a smaller model with the same tokenizer, which guesses; None to look up what came
            after the last tokens where they stood before in the prompt and the text.
        tokens: Number of tokens to guess at once.
        longest: Without a draft, most tokens that are looked up.

    Raises:
        ValueError: for a number below 1, for a draft of another tokenizer or with fewer positions, and for a
            model whose state cannot go back.

    Example:

        target, draft = load_generator("runs/large/bundle"), load_generator("runs/small/bundle")
        print(SpeculativeGenerator(target, draft).generate("The fox").text)
    """

    def __init__(
        self, target: Generator, draft: Generator | None = None, tokens: int = 4, longest: int = 3
    ) -> None:
        for name, value in (("tokens", tokens), ("longest", longest)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, is {value}")
        for whose, each in (("model", target), ("draft", draft)):
            if each is not None and not each.reader.goes_back:
                raise ValueError(
                    f"the {whose} cannot go back to an earlier token, as it must where a guess is refused"
                )
        if draft is not None:
            _check_draft(target, draft)
        super().__init__(target.model, target.tokenizer, target.recipe)
        self._draft, self._tokens, self._longest = draft, tokens, longest

    def _ahead(self, sampler: Any) -> int:
        return self._tokens

    def _decoding(self, sampler: Any) -> SpeculativeWriter:
        if not sampler.speculates:
            raise ValueError(f"the sampler {sampler.kind} cannot use guesses; greedy and sample can")
        framing = self.framing
        writer = SAMPLERS[sampler.kind](self.reader, framing.end_id, framing.may_write, sampler)
        if self._draft is None:
            return SpeculativeWriter(
                self.reader, writer, LookupProposer(len(framing.may_write), self._tokens, self._longest)
            )
        return SpeculativeWriter(self.reader, writer, DraftProposer(self._draft.reader, writer, self._tokens))


def _check_draft(target: Generator, draft: Generator) -> None:
    if draft.tokenizer.digest_of_ids != target.tokenizer.digest_of_ids:
        raise ValueError(
            "the draft has another tokenizer than the model; both must be trained with the same one"
        )
    for what, own, others in (
        ("knows {} tokens", len(draft.framing.may_write), len(target.framing.may_write)),
        ("reads {} tokens", draft.framing.most_read, target.framing.most_read),
        ("writes {} tokens", draft.framing.most_written, target.framing.most_written),
    ):
        if own < others:
            raise ValueError(f"the draft {what.format(own)}, fewer than the model's {others}")
