"""Keys of a configuration that no field reads: they change nothing, or are refused by name."""

import dataclasses
import difflib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from firth.interop.errors import InteropError
from firth.recipes.base.errors import suggest


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Of files, of types and of what a call returns.
_OF_FILES = _words(
    """
    _attn_implementation _attn_implementation_autoset _attn_implementation_internal _commit_hash
    _flash_attn_2_enabled _name_or_path adapters architectures attn_implementation
    chunk_size_feed_forward dtype gradient_checkpointing is_llama_config language license
    mlm_probability model_max_length model_type name_or_path output_attentions output_hidden_states
    output_past return_dict sentence_transformers tf_legacy_loss tie_last_hidden_states tokenizer_class
    torch_dtype torchscript transformers.js_config transformers_version unsloth_fixed unsloth_version
    use_bfloat16 use_cache
    """
)
# Of tokens, of which the tokenizer has its own, and of heads for tasks, which do not come in.
_OF_TASKS = _words(
    """
    _num_labels bos_token_id classifier_dropout cls_token_id decoder_start_token_id eos_token_id
    finetuning_task id2label label2id mask_token_id num_labels pad_token_id prefix problem_type
    sep_token_id summary_activation summary_first_dropout summary_last_dropout summary_proj_to_labels
    summary_type summary_use_proj task_specific_params unk_token_id vocab_size
    """
)
# What a text is written by; transformers drops them from a model's configuration.
GENERATION = _words(
    """
    assistant_confidence_threshold assistant_early_exit assistant_lookbehind bad_words_ids
    begin_suppress_tokens cache_config cache_implementation compile_config constraints
    continuous_batching_config crop_log_probs decoder_start_token_id disable_compile diversity_penalty
    do_sample dola_layers early_stopping encoder_no_repeat_ngram_size encoder_repetition_penalty
    epsilon_cutoff eta_cutoff exponential_decay_length_penalty force_bos_token_to_be_generated
    force_words_ids forced_bos_token_id forced_eos_token_id guidance_scale is_assistant length_penalty
    low_memory max_length max_matching_ngram_size max_new_tokens max_time min_length min_new_tokens
    min_p no_repeat_ngram_size num_assistant_tokens num_assistant_tokens_schedule num_beam_groups
    num_beams num_return_sequences output_logits output_scores penalty_alpha prefill_chunk_size
    prompt_lookup_num_tokens remove_invalid_values renormalize_logits repetition_penalty
    return_dict_in_generate return_legacy_cache sequence_bias stop_strings suppress_tokens
    target_lookbehind temperature token_healing top_h top_k top_p typical_p use_model_defaults
    watermarking_config
    """
)
_ONLY: dict[str, tuple[Any, ...]] = {
    # Code of the model's own may compute anything.
    "auto_map": (None, {}),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "is_causal": (False,),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "per_layer_config": (None, {}),
    "pruned_heads": (None, {}),
    "quantization": (None,),
    "quantization_config": (None,),
    "tie_encoder_decoder": (False,),
}


@dataclasses.dataclass(frozen=True)
class Keys:
    """The keys of a family's configuration that no field reads.

    Attributes:
        names: Other names of keys, each with the key, which is transformers' `attribute_map`.
        read: Keys from which the family makes the values of its fields.
        nothing: Keys that change nothing of what a backbone and its heads compute, next to those that
            change nothing in all families.
        only: Keys that do change it, with the values that can be expressed here.
        training: Keys that change the training alone, with the value in force here, or the key that has it.
        needed: Other names that transformers reads after what follows from the key, each with the key of what
            follows, which has to be stated too.
    """

    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    read: Collection[str] = ()
    nothing: Collection[str] = ()
    only: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    needed: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def known(self, others: Collection[str]) -> set[str]:
        """Returns all keys that are used, or that change nothing, or that have a value which does not."""
        own = {*self.names, *self.read, *self.nothing, *self.only, *self.training}
        return {*own, *_ONLY, *_OF_FILES, *_OF_TASKS, *GENERATION, *others}

    def plain(self, config: Mapping[str, Any], others: Collection[str]) -> dict[str, Any]:
        """Returns a configuration in which each value has the key that fields know."""
        plain = dict(config)
        for name, key in self.needed.items():
            if name in plain and key not in plain:
                raise InteropError(f"{name}: {plain[name]!r} cannot be read without {key} next to it")
        for name, key in self.names.items():
            if name in plain and plain.setdefault(key, plain[name]) != plain[name]:
                raise InteropError(f"{name}: {plain[name]!r} differs from {key}: {plain[key]!r}")
            plain.pop(name, None)
        known = self.known(others)
        for key in plain:
            if key not in known:
                near = [f" ({suggest(key, known)})" for _ in difflib.get_close_matches(key, known, n=1)]
                raise InteropError(
                    f"{key}: {plain[key]!r} is not known here{''.join(near)}, and the published model may "
                    "compute something else with it; if it changes nothing, take it out of config.json"
                )
        for key, values in {**_ONLY, **self.only}.items():
            if key in plain and key not in others and plain[key] not in values:
                able = " or ".join(map(repr, values))
                raise InteropError(f"{key}: {plain[key]!r} cannot be expressed here, {able} can")
        return plain

    def notes(self, config: Mapping[str, Any]) -> Iterator[str]:
        """Yields which keys change training, or how texts are written, in a way that is not in force here."""
        for key, value in self.training.items():
            here = config.get(value) if isinstance(value, str) else value
            if here is not None and config.get(key, here) != here:
                yield f"{key}: {config[key]} is of the training alone, where {here} is in force here"
        # Ids of tokens are those of the tokenizer and the objective.
        written = [key for key in config if key in GENERATION and not key.endswith("_token_id")]
        if said := sorted(key for key in written if config[key] is not None):
            yield f"{', '.join(said)}: of how texts are written, which is not read here"
