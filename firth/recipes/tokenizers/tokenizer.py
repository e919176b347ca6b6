"""The tokenizer that a recipe trains, and the rows that its pieces are packed into."""

from typing import Annotated, ClassVar, Literal, get_args

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE, SHORTEST_ROW, Config


class _Tokenizer(Config):
    """The facts that every kind of tokenizer states."""

    of_words: ClassVar[bool] = False
    """True if its tokens are whole words, which a model reads by their characters."""
    fixed_because: ClassVar[str] = ""
    """Why a trained one takes no more pieces; empty if it does."""
    special_texts: tuple[str, ...] = ()
    """Special pieces that are read as such where they are typed in a text, of the corpus or of a request,
    such as `[SEP]`. The name of any other special piece is ordinary text there."""


class WordPieceTokenizerConfig(_Tokenizer):
    """WordPiece with BERT's normalisation (Devlin et al. 2018, section 3)."""

    # Pieces are read by their ids alone.
    max_characters: ClassVar[int] = 0
    kind: Literal["wordpiece"] = "wordpiece"
    vocabulary_size: int = pydantic.Field(default=30_522, ge=16, le=MAX_SIZE)
    """Number of pieces to train, the five special ones included. A small corpus may yield fewer; the model
    keeps this many rows."""
    lowercase: bool = True
    """True to lower-case and strip accents, as the uncased models do."""
    min_frequency: int = pydantic.Field(default=2, ge=1)
    """Least number of times that a pair of pieces must occur to be merged."""
    max_word_characters: int = pydantic.Field(default=100, ge=8)
    """Most characters of a word; a longer word becomes `[UNK]`."""
    sentinels: int = pydantic.Field(default=0, ge=0)
    """Number of special pieces `<extra_id_0>`, `<extra_id_1>`, ... that stand for spans (Raffel et al. 2019,
    section 3.1.4). They are counted in the vocabulary's size; their ids descend from its top."""

    @pydantic.model_validator(mode="after")
    def _pieces_are_left(self) -> "WordPieceTokenizerConfig":
        if self.vocabulary_size < self.sentinels + 16:
            raise ValueError(f"vocabulary_size: {self.vocabulary_size} leaves no room next to the sentinels")
        return self


class BytePairTokenizerConfig(_Tokenizer):
    """Byte-level byte-pair encoding with GPT-2's pattern (Radford et al. 2019, section 2.2)."""

    fixed_because: ClassVar[str] = "a word needs several merges, each of which changes other words"
    # Bytes are kept as they are.
    lowercase: ClassVar[bool] = False
    # Pieces are read by their ids alone.
    max_characters: ClassVar[int] = 0
    kind: Literal["bpe"] = "bpe"
    vocabulary_size: int = pydantic.Field(default=50_257, ge=272, le=MAX_SIZE)
    """Number of pieces to train, the five special ones and 256 bytes included. A small corpus may yield
    fewer; the model keeps this many rows."""
    min_frequency: int = pydantic.Field(default=2, ge=1)
    """Least number of times that a pair of pieces must occur to be merged."""
    sentinels: int = pydantic.Field(default=0, ge=0)
    """Number of sentinels, as in `WordPieceTokenizerConfig`."""
    ties: Literal["greater", "first_seen"] = "greater"
    """Choice between pairs that occur equally often: `greater` merges the lexicographically greater pair of
    byte strings, and `first_seen` the one that comes first when words are sorted by descending count."""

    @pydantic.model_validator(mode="after")
    def _bytes_are_left(self) -> "BytePairTokenizerConfig":
        if self.vocabulary_size < self.sentinels + 272:
            raise ValueError(f"vocabulary_size: {self.vocabulary_size} leaves no room next to the sentinels")
        return self


class SentencePieceTokenizerConfig(_Tokenizer):
    """SentencePiece (Kudo and Richardson 2018)."""

    fixed_because: ClassVar[str] = "each piece has a score that was learnt with those of all others"
    # Pieces are read by their ids alone.
    max_characters: ClassVar[int] = 0
    kind: Literal["sentencepiece"] = "sentencepiece"
    model: Literal["unigram", "bpe"] = "unigram"
    """Algorithm: `unigram`, the likeliest pieces under a model of single pieces (Kudo 2018), or `bpe`."""
    vocabulary_size: int = pydantic.Field(default=32_000, ge=16, le=MAX_SIZE)
    """Number of pieces to train, the five special ones included. A small corpus may yield fewer; the model
    keeps this many rows."""
    lowercase: bool = False
    """True to fold case."""
    character_coverage: float = pydantic.Field(default=0.9995, gt=0.9, le=1.0)
    """Share of all characters that have pieces of their own."""
    byte_fallback: bool = False
    """True to write other characters as bytes, instead of `[UNK]`."""
    sentinels: int = pydantic.Field(default=0, ge=0)
    """Number of sentinels, as in `WordPieceTokenizerConfig`."""

    @pydantic.model_validator(mode="after")
    def _pieces_are_left(self) -> "SentencePieceTokenizerConfig":
        if self.vocabulary_size < self.sentinels + 16 + 256 * self.byte_fallback:
            raise ValueError(
                f"vocabulary_size: {self.vocabulary_size} leaves no room next to the sentinels and bytes"
            )
        return self


class WordTokenizerConfig(_Tokenizer):
    """Whole words, each with its characters (Peters et al. 2018, section 3.4).

    Every word has a vector, made of its characters; the vocabulary holds the words that the softmax predicts.
    """

    of_words: ClassVar[bool] = True
    fixed_because: ClassVar[str] = "it reads every word by its characters"

    # A word vocabulary has no sentinels.
    sentinels: ClassVar[int] = 0
    kind: Literal["words"] = "words"
    vocabulary_size: int = pydantic.Field(default=793_471, ge=16, le=MAX_SIZE)
    """Number of words, the special ones included: the most frequent ones, by descending count. A small corpus
    may have fewer; the model keeps this many rows."""
    lowercase: bool = False
    """True to lower-case and strip accents. ELMo does not."""
    min_frequency: int = pydantic.Field(default=1, ge=1)
    """Least number of times that a word must occur; a rarer word is predicted as `<UNK>`."""
    max_characters: int = pydantic.Field(default=50, ge=4)
    """Most UTF-8 bytes of a word with the two marks around it; a longer word is cut."""


AnyTokenizerConfig = Annotated[
    WordPieceTokenizerConfig | BytePairTokenizerConfig | SentencePieceTokenizerConfig | WordTokenizerConfig,
    pydantic.Field(discriminator="kind"),
]


def tokenizer_kinds(of_words: bool) -> list[str]:
    """Returns the kinds of tokenizer whose tokens are whole words, or those whose tokens are pieces.

    Example:

    >>> tokenizer_kinds(of_words=True)
    ['words']
    """
    types = get_args(get_args(AnyTokenizerConfig)[0])
    return [each.model_fields["kind"].default for each in types if each.of_words is of_words]


_ANY_TOKENIZER: pydantic.TypeAdapter[AnyTokenizerConfig] = pydantic.TypeAdapter(AnyTokenizerConfig)


def tokenizer_from_json(
    text: str,
) -> WordPieceTokenizerConfig | BytePairTokenizerConfig | SentencePieceTokenizerConfig | WordTokenizerConfig:
    """Returns the part that `to_json` wrote, of whichever kind.

    Raises:
        pydantic.ValidationError: if the text does not describe a tokenizer.

    Example:

    >>> tokenizer_from_json(WordTokenizerConfig(vocabulary_size=99).to_json()).vocabulary_size
    99
    """
    return _ANY_TOKENIZER.validate_json(text, strict=True)


class Sequences(Config):
    """The rows of fixed length that tokenized documents are packed into."""

    length: int = pydantic.Field(default=128, ge=SHORTEST_ROW, le=MAX_SIZE)
    """Tokens of a row, special tokens and padding included."""
    max_documents: int = pydantic.Field(default=8, ge=1, le=2**16)
    """Most documents (or parts of one) that share a row."""
    shards: int = pydantic.Field(default=16, ge=1, le=2**16)
    """Number of groups in which documents are packed, by a hash of their id, so that the result does not
    depend on the number of workers."""
    short_seq_prob: float = pydantic.Field(default=0.0, ge=0.0, le=1.0)
    """Share of the parts of documents that are made shorter, so that a model sees short inputs too: such a
    part ends with the sentence that reaches a length drawn between 2 and the most. What follows begins the
    next part. It is 0.1 in BERT's released code."""
