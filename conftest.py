"""Options and hooks of all tests."""

import gc
import importlib.util
import os
import platform
import sys

import pytest
from _pytest.doctest import DoctestModule

from tests.lookups import (
    build_automata_here,
    delay_grammars_of_uris,
    remember_arguments_of_layers,
    remember_commands,
    remember_distributions,
    remember_protocols,
    remember_tracebacks,
    remember_yaml,
    share_kernels_of_variables,
)
from tests.shared_data import missing_data, twin_problem
from tests.worker_memory import WorkerMemory, forget_custom_gradients

if platform.machine() == "x86_64":
    # On a CPU that is not Intel's, CTranslate2 multiplies with oneDNN, which was less exact in 8 bits.
    os.environ.setdefault("CT2_USE_MKL", "1")

pytest_plugins = ["scripts.test_durations", "tests.made_once", "tests.parts"]
# Files that take minutes: first, lest one worker ends long after the others.
LONGEST = "tests/pipelines/"
# Files that share what takes seconds to make, by its name: one worker runs them all, early.
TOGETHER = {
    "tests/objectives/cases.py": ("tests/objectives/",),
    "tests/serving/slots/models.py": (
        "tests/serving/server/",
        "tests/serving/slots/",
        "tests/serving/continuation_test.py",
    ),
    "tests/fresh_process.py": tuple(f"tests/serving/{name}_test.py" for name in ("bundle", "validation")),
}
# The graphs of the run that they share are optimised as users' are, and those of repeated tests. Other tests
# run a graph once or twice, and optimising it takes longer.
OPTIMISED = tuple(
    f"tests/pipelines/pretrain_test.py::{name}"
    for name in (
        "test_raw_text_becomes_a_served_model_without_thresholds_too",
        "test_the_front_door_trains_the_same_weights",
    )
)
# They import MkDocs and griffe, which are in the environment of `make docs` alone.
collect_ignore = ["scripts/docs/griffe_extension.py", "scripts/docs/hooks.py"]
# They import coverage.py and cosmic-ray, which `make coverage` and `make mutants` install apart.
collect_ignore += ["scripts/coverage_by_file.py", "scripts/mutants/sample.py"]
# They make golden files in environments of their own, with torch.
collect_ignore_glob = ["tests/**/make_*.py", "tests/models/golden/transformers_families/*.py"]
if importlib.util.find_spec("jax") is None:
    # They import JAX, which the first stack's lock does not have.
    collect_ignore_glob += ["firth/training/jax_backend/*.py", "tests/backends/compiled_memory.py"]
if importlib.util.find_spec("tensorflow_io") is None:
    # Its import reads S3 by tensorflow-io, which the second stack does not have.
    collect_ignore += ["firth/corpus/workers/s3.py"]


def pytest_sessionstart():
    """Stops the collector of cycles while modules are imported: what is made then stays to the end."""
    gc.disable()
    remember_distributions()
    delay_grammars_of_uris()
    # Files of tests need not outlive the machine, and waiting for the disk takes longer than writing them.
    os.fsync = lambda descriptor: None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Leaves out the collector of doctests of files without any, which would import and search them.

    `tests/lazy_test.py` imports each module of firth.
    """
    found = yield
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return [each for each in found if not isinstance(each, DoctestModule)]
    return found


def pytest_make_parametrize_id(val):
    """Names long bytes by their length: compressed data may differ between workers, by their time."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > 20 else None


def pytest_collection_modifyitems(items):
    """Sorts the tests, those of a file in their order, and refuses tests that need data and have no twin."""
    items.sort(key=lambda item: (not item.nodeid.startswith(LONGEST), shared_by(item.nodeid) is None))
    pairs = [(item.path, mark) for item in items for mark in item.iter_markers("needs_data")]
    problems = {f"{path}: {problem}" for path, mark in pairs if (problem := twin_problem(path, mark))}
    if problems:
        raise pytest.UsageError("\n".join(sorted(problems)))


def shared_by(nodeid):
    """Returns the name in `TOGETHER` of what a test shares with other files."""
    return next((name for name, places in TOGETHER.items() if nodeid.startswith(places)), None)


def pytest_collection_finish():
    """Keeps the collector of cycles off what stays, and makes models and pipelines quick to build."""
    gc.freeze()
    # Graphs are many small objects: by default, a thirtieth of the time goes into looking for cycles.
    gc.set_threshold(10_000, 10, 10)
    gc.enable()
    if "tensorflow" in sys.modules:
        from tests.graph_lookups import shorten_tracing

        shorten_tracing()
    if "apache_beam" in sys.modules:
        from tests.beam_lookups import remember_lookups

        remember_lookups()
    remember_protocols()
    remember_tracebacks()
    remember_arguments_of_layers()
    share_kernels_of_variables()
    remember_commands()
    remember_yaml()
    build_automata_here()


MEMORY = WorkerMemory()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Gives memory back: what a file has made after its last test, and what is unreachable after any."""
    ends_file = nextitem is None or nextitem.path != item.path
    if ends_file:
        if isinstance(item, pytest.Function):
            forget_results(item.module)
        if nextitem is None or folder_of(nextitem) != folder_of(item):
            for module in helpers():
                forget_results(module)
            forget_custom_gradients()
    MEMORY.give_back(ends_file)


def folder_of(item):
    """Returns the folder of a test as the beginning of its modules' names, such as `tests.models.`."""
    return ".".join([*item.nodeid.split("::")[0].split("/")[:2], ""])


def helpers():
    """Returns the helpers in folders of tests, with which files of other folders make models too."""
    names = [name for name in sys.modules if name.startswith("tests.") and name.count(".") > 1]
    return [sys.modules[name] for name in names if not name.endswith("_test")]


def forget_results(module):
    """Empties the caches of a module's own functions, which hold models."""
    for value in list(vars(module).values()):
        if hasattr(value, "cache_clear") and value.__module__ == module.__name__:
            value.cache_clear()


def pytest_sessionfinish():
    """Keeps pytest from looking for cycles, five times, in all that the run has made."""
    gc.freeze()


def optimise_graphs(on):
    """Switches TensorFlow's optimiser of graphs, that of V1 sessions too, where TensorFlow is loaded."""
    if tf := sys.modules.get("tensorflow"):
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not on})
        # `firth.serving.isolated_check` loads models in such sessions.
        tf.compat.v1.ConfigProto = type(plain_session()) if on else plain_session


def plain_session(**settings):
    """Returns the configuration of a V1 session that runs graphs as they are."""
    from tensorflow.core.protobuf import config_pb2

    config = config_pb2.ConfigProto(**settings)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A worker runs whole files, and one worker those that share much."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return shared_by(nodeid) or super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skips a test whose data are not on this machine, before its fixtures look for them."""
    optimise_graphs(item.nodeid.startswith(OPTIMISED) or item.get_closest_marker("repeated") is not None)
    for mark in item.iter_markers("needs_data"):
        if reason := missing_data(mark):
            pytest.skip(reason)


if os.environ.get("KERAS_BACKEND") == "torch":
    # `tests.backends.gradients` makes gradients of its own.
    @pytest.fixture(autouse=True)
    def _without_torch_gradients():
        import torch

        with torch.no_grad():
            yield
