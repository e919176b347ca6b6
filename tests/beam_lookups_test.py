"""Beam's answers are the same when it remembers them."""

from unittest import mock

import apache_beam as beam
from apache_beam.coders import StrUtf8Coder
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, SetupOptions
from apache_beam.transforms import userstate

from tests.beam_lookups import remember_specs, remember_views

STATE = userstate.BagStateSpec("seen", StrUtf8Coder())
LOOK_UP = userstate.get_dofn_specs


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
