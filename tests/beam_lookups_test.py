"""Beam's answers are the same when it remembers them."""

import bz2
import threading
from unittest import mock

import apache_beam as beam
import pytest
from apache_beam.coders import StrUtf8Coder
from apache_beam.internal import cloudpickle_pickler
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, SetupOptions
from apache_beam.runners.portability.prism_runner import PrismRunner
from apache_beam.runners.worker import statesampler
from apache_beam.runners.worker.statecache import get_deep_size
from apache_beam.transforms import core, userstate
from apache_beam.typehints import decorators
from apache_beam.utils.counters import CounterFactory

from firth.pipelines.beam_lookups import remembered_lookups
from tests.beam_lookups import (
    ExecutorOfThisThread,
    compress_in_small_blocks,
    remember_by_code,
    remember_specs,
    remember_views,
)
from tests.lookups import remember_signatures

STATE = userstate.BagStateSpec("seen", StrUtf8Coder())
LOOK_UP = userstate.get_dofn_specs
SIGNATURE = decorators.get_signature


class Plain(beam.DoFn):
    def process(self, element):
        yield element


class Stateful(beam.DoFn):
    def process(self, element, seen=beam.DoFn.StateParam(STATE)):  # noqa: B008
        seen.add(element[1])
        yield element


def test_state_is_that_of_the_class_and_of_methods_that_an_instance_has():
    look_up = mock.Mock(wraps=LOOK_UP)
    found = remember_specs(look_up)
    for _ in range(2):
        assert found(Plain()) == (set(), set())
        assert found(Stateful()) == ({STATE}, set())
    assert look_up.call_count == 2
    # The method of another, and a function that takes the place of the method of the class.
    borrowed, hidden = Plain(), Stateful()
    borrowed.process, hidden.process = Stateful().process, lambda element: [element]
    for _ in range(2):
        assert found(borrowed) == ({STATE}, set())
        assert found(hidden) == (set(), set())


def test_views_share_values():
    view_as = remember_views(PipelineOptions.view_as)
    options, others = (PipelineOptions([f"--direct_num_workers={count}"]) for count in (3, 4))
    assert view_as(options, DirectOptions) is view_as(options, DirectOptions)
    assert [view_as(each, DirectOptions).direct_num_workers for each in (options, others)] == [3, 4]
    view_as(options, DirectOptions).direct_num_workers = 5
    assert options.view_as(DirectOptions).direct_num_workers == 5
    assert type(view_as(options, SetupOptions)) is SetupOptions


def test_signatures_are_those_of_functions_and_of_methods_without_their_object():
    look_up = mock.Mock(wraps=SIGNATURE)
    found = remember_signatures(look_up)
    # A function, methods of two objects, and a class and a builtin, which are looked up each time.
    asked = [Plain.process, Plain().process, Plain().process, Plain, len]
    for _ in range(2):
        assert [list(found(each).parameters) for each in asked] == [
            ["self", "element"], ["element"], ["element"], ["unused_args", "unused_kwargs"], ["obj"]
        ]  # fmt: skip
    assert look_up.call_count == 2 + 2 * 2
    # The same code with other defaults.
    first, second = (lambda element, n=n: element for n in range(2))
    assert [found(each).parameters["n"].default for each in (first, second)] == [0, 1]


def test_sources_are_read_once_for_the_same_code():
    look_up = mock.Mock(side_effect=lambda function: function(1))
    found = remember_by_code(look_up)
    assert [found(lambda element: element + 1) for _ in range(2)] == [2, 2]
    # Other code, and builtins, which have none.
    assert [found(lambda element: element + 2), found(abs), found(abs)] == [3, 1, 1]
    assert look_up.call_count == 4


def test_pipelines_run_without_prism_with_the_sizes_of_values():
    options = PipelineOptions(["--direct_num_workers=1"])
    with pytest.raises(RuntimeError, match="Prism"):
        PrismRunner().run_pipeline(beam.Pipeline(options=options), options)
    assert get_deep_size([b"a" * 1000]) > get_deep_size([b"a"]) + 990
    assert core.get_signature is decorators.get_signature


def test_functions_are_pickled_in_small_blocks_and_read_as_any():
    content = b"a function" * 999
    assert bz2.decompress(compress_in_small_blocks(content)) == content
    assert cloudpickle_pickler.loads(cloudpickle_pickler.dumps(content)) == content
    assert cloudpickle_pickler.bz2.compress(content) is cloudpickle_pickler.bz2.compress(content)


def test_a_bundle_runs_in_its_thread_and_its_errors_reach_the_caller():
    with ExecutorOfThisThread(max_workers=1) as executor:
        assert executor.submit(threading.get_ident).result(timeout=1) == threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            executor.submit(lambda: 1 / 0).result()
    sampler, threads = statesampler.StateSampler("", CounterFactory()), threading.active_count()
    sampler.start()
    assert statesampler.get_current_tracker() is sampler and threading.active_count() == threads
    sampler.stop_if_still_running()
    assert statesampler.get_current_tracker() is None and sampler.finished


def test_the_last_block_that_ends_puts_the_look_ups_back():
    before = userstate.get_dofn_specs
    first, second = remembered_lookups(), remembered_lookups()
    first.__enter__()
    remembered = userstate.get_dofn_specs
    second.__enter__()
    first.__exit__(None, None, None)
    assert remembered is userstate.get_dofn_specs is not before
    second.__exit__(None, None, None)
    assert userstate.get_dofn_specs is before
