"""Lower case and marks of each character, as a table that is frozen with the package.

The table was read off Hugging Face's normalisers `Lowercase` and `StripAccents`, so that ids do not depend on
a library's version of Unicode.
"""

from firth.tokenizers.graph.frozen_tables import lower_case_in, read_table


def lowercase() -> dict[int, str]:
    """Returns the lower case of each character that has one; each by itself, whatever is next to it.

    Example:

    >>> lowercase()[ord("Σ")], ord("a") in lowercase()
    ('σ', False)
    """
    return lower_case_in("letters")


def strip_accents() -> dict[int, str]:
    """Returns an empty text for each mark: what goes with the letter before it, such as an accent.

    Example:

    >>> strip_accents()[0x301], ord("é") in strip_accents()
    ('', False)
    """
    return {point: "" for first, last in read_table("letters")["marks"] for point in range(first, last + 1)}
