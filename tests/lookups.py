"""Look-ups of the same function or class, made once instead of at every operation and for every layer.

They change no result. Small models spend a tenth of their time on them, and on chunks for large vocabularies.
"""

import functools
import importlib.metadata
import importlib.util
import inspect
import sys
import types
import typing

from firth.pipelines.beam_lookups import remember_signatures


def remember_protocols() -> None:
    """Lets Python remember the members of a protocol, as 3.12 does: TensorFlow asks at each operation."""
    if sys.version_info < (3, 12):
        for name in ("_get_protocol_attrs", "_is_callable_members_only"):
            setattr(typing, name, functools.cache(getattr(typing, name)))


def remember_tracebacks() -> None:
    """Keeps TensorFlow and Keras, where loaded, from asking at each call whether tracebacks are filtered."""
    for name in ("tensorflow.python.util.traceback_utils", "keras.src.utils.traceback_utils"):
        if module := sys.modules.get(name):
            # No test changes it.
            module.is_traceback_filtering_enabled = functools.partial(bool, True)


def remember_arguments_of_layers() -> None:
    """Lets Keras, where it is loaded, remember the signatures that it looks up for each new layer."""
    remembered = {
        "signature": remember_signatures(inspect.signature),
        "getfullargspec": functools.cache(inspect.getfullargspec),
    }
    for name in ("keras.src.layers.layer", "keras.src.ops.operation"):
        if module := sys.modules.get(name):
            module.inspect = types.SimpleNamespace(**{**vars(inspect), **remembered})


def share_kernels_of_variables() -> None:
    """Lets TensorFlow, where it is loaded, make all eager variables of a shape by one kernel.

    It keeps a kernel, and 40 kB, for each name: of a test run's variables these are hundreds of megabytes.
    """
    if operations := sys.modules.get("tensorflow.python.ops.gen_resource_variable_ops"):
        make = operations.var_handle_op

        def made(*arguments, debug_name="", **options):
            if sys.modules["tensorflow"].executing_eagerly():
                debug_name = "variable"
            return make(*arguments, debug_name=debug_name, **options)

        operations.var_handle_op = made


def remember_commands() -> None:
    """Lets Typer, where it is loaded, remember the commands of an app, which it builds for each call."""
    if "typer" in sys.modules:
        from typer import main, testing

        # Under a name of its own in `testing`.
        main.get_command = testing._get_command = functools.cache(main.get_command)


def remember_yaml() -> None:
    """Lets recipes remember how a text is parsed: presets and bundles are read hundreds of times."""
    if yaml_text := sys.modules.get("firth.recipes.base.yaml_text"):
        parse, known = yaml_text._Loader.get_single_node, {}

        def remembered(loader):
            text = loader.buffer
            if text not in known:
                node = parse(loader)
                if len(known) == 64:
                    del known[next(iter(known))]
                known[text] = node
            return known[text]

        yaml_text._Loader.get_single_node = remembered


def build_automata_here() -> None:
    """Builds automata of constraints, where they are loaded, in this process: one of its own takes 0.3 s.

    `tests/constraints/token_automaton_test.py` keeps the function that starts a process.
    """
    if automaton := sys.modules.get("firth.constraints.automaton"):

        def built(expression: str, most_seconds: float = automaton.MOST_SECONDS) -> automaton.Automaton:
            return automaton._built(expression)

        for name in ("automaton", "compiling", "llguidance_matcher"):
            if module := sys.modules.get(f"firth.constraints.{name}"):
                module.build_automaton = built


def remember_distributions() -> None:
    """Lets Google's clients, each of which lists all distributions when it is imported, do so once."""
    importlib.metadata.packages_distributions = functools.cache(importlib.metadata.packages_distributions)


def delay_grammars_of_uris() -> None:
    """Lets `jsonschema` be imported without the parsers of IRIs, which take a second to be made."""
    name = "rfc3987_syntax"
    if name in sys.modules or importlib.util.find_spec(name) is None:
        return
    stub = types.ModuleType(name)

    def is_valid_syntax(term: str, value: str) -> bool:
        if sys.modules.get(name) is stub:
            del sys.modules[name]
        return importlib.import_module(name).is_valid_syntax(term, value)

    stub.is_valid_syntax = is_valid_syntax
    sys.modules[name] = stub
