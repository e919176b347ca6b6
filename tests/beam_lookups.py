"""Beam's look-ups of the same class, function or options, made once instead of at every visit of a pipeline.

A small pipeline takes longer to build than to run. Most of that time goes into signatures of a DoFn's
methods, sources of functions, parsers of options, sizes of cached values, and into a
runner that cannot start.
"""

import argparse
import functools
import types
from collections.abc import Callable

import objsize
from apache_beam.options import pipeline_options
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability import prism_runner
from apache_beam.runners.worker import statecache
from apache_beam.transforms import core, ptransform, userstate, util
from apache_beam.typehints import decorators

from firth.pipelines.beam_lookups import remember_signatures, remember_specs, remember_views


def remember_lookups() -> None:
    """Lets Beam remember its look-ups, in this process and in those forked off it."""
    userstate.get_dofn_specs = remember_specs(userstate.get_dofn_specs)
    PipelineOptions.view_as = remember_views(PipelineOptions.view_as)
    signature = remember_signatures(decorators.get_signature)
    for module in (decorators, core, ptransform, util):
        module.get_signature = signature
    core._check_fn_use_yield_and_return = remember_by_code(core._check_fn_use_yield_and_return)
    pipeline_options._BeamArgumentParser._get_formatter = format_without_terminal
    # A size decides only how long a value is cached; the globals of all modules need not be listed for it.
    measure = functools.partial(objsize.get_deep_size, exclude_modules_globals=False)
    statecache.objsize = types.SimpleNamespace(get_deep_size=measure)
    prism_runner.PrismRunner.run_pipeline = refuse_prism


def format_without_terminal(parser: argparse.ArgumentParser) -> argparse.HelpFormatter:
    """Returns a formatter of help for each option, which does not ask for the terminal's width."""
    return argparse.HelpFormatter(parser.prog, width=80)


def remember_by_code(look_up: Callable) -> Callable:
    """Returns a look-up of a function that reads no more than its source."""
    known: dict = {}

    def remembered(function):
        if not isinstance(function, types.FunctionType):
            return look_up(function)
        code = function.__code__
        if code not in known:
            known[code] = look_up(function)
        return known[code]

    return remembered


def refuse_prism(self, pipeline, options):
    """Makes Beam's direct runner run all pipelines itself.

    It first hands a pipeline to Prism, a runner of its own that it downloads from GitHub. Tests would run on
    Prism where GitHub answers; where it does not, each pipeline would be translated twice.
    """
    raise RuntimeError("tests run without Prism")
