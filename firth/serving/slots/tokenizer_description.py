"""The description of a tokenizer in `firth.json`: its special pieces and its chat template."""

from typing import Any

from firth.generation.framing import framing_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers.chat import Chat, ChatTemplateError
from firth.tokenizers.chat_program import jinja_program


def describe_tokenizer(tokenizer: Any, recipe: RunRecipe) -> dict[str, Any]:
    """Returns the description of a model's tokenizer, fit for JSON.

    Args:
        tokenizer: The tokenizer.
        recipe: Recipe of the run.

    Returns:
        kind: Name of its type.
        special_pieces: Ids of its special pieces by their names.
        roles: Names of those with a role, by the role, such as `sep`.
        before, after: Ids of the pieces around each prompt of a model that writes; empty for others.
        prefix: Text before each prompt of a model that writes; empty for none.
        chat_template: Its chat template as a program in Jinja; None if it has none.
    """
    goal: Any = recipe.goal
    writes = bool(goal.text_end) and not getattr(goal, "pair", False)
    framing = framing_of(recipe, tokenizer) if writes else None
    # Tokenizers of words have none of the roles.
    specials = getattr(tokenizer, "specials", None)
    return {
        "kind": recipe.tokenizer.kind,
        "special_pieces": {str(tokenizer.id_to_token(each)): int(each) for each in tokenizer.special_ids},
        "roles": {} if specials is None else dict(specials.by_role),
        "before": [] if framing is None else list(framing.before),
        "after": [] if framing is None else list(framing.after),
        "prefix": "" if framing is None else goal.prompt_prefix,
        "chat_template": _program(tokenizer),
    }


def _program(tokenizer: Any) -> str | None:
    if getattr(tokenizer, "chat_template", None) is None:
        return None
    try:
        return jinja_program(Chat(tokenizer))
    except ChatTemplateError:
        # A template that nothing was learned with may name pieces that the vocabulary lacks.
        return None
