"""Lead-3, the baseline of every summary: the first three sentences of the text itself."""

from firth.scores.rouge import sentence_lines


def lead(text: str, sentences: int = 3) -> str:
    r"""Returns the first sentences of a text, one on each line.

    Sentences end as `firth.scores.rouge.sentence_lines` says, and at each line end.

    Example:

    >>> lead("One. Two!\nThree? Four.")
    'One.\nTwo!\nThree?'
    """
    lines = (line for part in text.splitlines() for line in sentence_lines(part).split("\n"))
    return "\n".join([line.strip() for line in lines if line.strip()][:sentences])
