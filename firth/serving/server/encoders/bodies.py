"""Bodies of requests to encoders."""

from typing import Annotated, Any, ClassVar

import pydantic

from firth.serving.server.json_requests import Body

Texts = str | list[str]


class EncoderBody(Body):
    """Base of the bodies of requests to encoders."""

    model: Annotated[str, pydantic.Field(min_length=1)] | None = None
    """Name of the model; it may be left out where one model can answer."""
    user: str | None = None
    """Name of an end user."""
    truncate: bool | None = None
    """Whether a text that is too long is cut; this server refuses it."""
    truncate_prompt_tokens: int | None = None
    """Number of tokens to which a text is cut."""

    ignored: ClassVar[tuple[str, ...]] = ("user",)
    neutral: ClassVar[Any] = {"truncate": (False,), "truncate_prompt_tokens": ()}


class DocumentText(Body):
    """A document to rank."""

    text: str
    """Its text."""


class RankBody(EncoderBody):
    """Body of a request to rank texts for a query, in the form of Cohere, Jina and vLLM."""

    query: str
    """The query."""
    documents: Annotated[list[str | DocumentText], pydantic.Field(min_length=1)] | None = None
    """The texts."""
    top_n: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Number of the best texts that are answered; null for all."""
    return_documents: bool | None = None
    """True if the answer has the texts."""
    max_tokens_per_doc: int | None = None
    """Number of tokens to which a text is cut."""
    label: str | None = None
    """Class whose probability is the score, of a model of classes of pairs; the second of two without it."""
    texts: Annotated[list[str], pydantic.Field(min_length=1)] | None = None
    """The texts, in the form of text-embeddings-inference."""
    return_text: bool | None = None
    """True if the answer has the texts, in that form."""
    raw_scores: bool | None = None
    """Whether scores are logits; they are not."""
    truncation_direction: str | None = None
    """End at which a text is cut."""

    neutral: ClassVar[Any] = {
        **EncoderBody.neutral,
        "max_tokens_per_doc": (),
        "raw_scores": (False,),
        "truncation_direction": ("right", "Right"),
    }


class ClassifyBody(EncoderBody):
    """Body of a request for classes."""

    input: Annotated[str | list[str] | list[list[str]], pydantic.Field(union_mode="left_to_right")]
    """A text, a list of texts, or a list of pairs of texts."""


class TagBody(EncoderBody):
    """Body of a request for tags."""

    input: Annotated[str | list[str] | list[list[str]], pydantic.Field(union_mode="left_to_right")]
    """A text, a list of texts, or a list of lists of words."""


class FillMaskBody(EncoderBody):
    """Body of a request for pieces of masks."""

    input: Texts
    """A text with masks, or a list of them."""
    top_k: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Number of pieces for each mask; as many as the model gives where it is not given."""
