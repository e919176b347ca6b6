"""Beam's look-ups of the same class, function or options, made once instead of at every visit of a pipeline.

A small pipeline takes longer to build than to run. Most of that time goes into signatures of a DoFn's
methods, sources of functions, parsers of options, sizes of cached values, and into a
runner that cannot start. Most of the time of a small bundle goes into two threads, which are not started.
"""

import argparse
import bz2
import concurrent.futures
import functools
import threading
import types
from collections.abc import Callable

import objsize
from apache_beam.internal import cloudpickle_pickler
from apache_beam.options import pipeline_options
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability import prism_runner
from apache_beam.runners.worker import bundle_processor, statecache, statesampler
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
    # Functions are pickled at every visit, and most pipelines have the same ones.
    remembered = functools.lru_cache(2**12)
    cloudpickle_pickler.bz2 = types.SimpleNamespace(
        compress=remembered(compress_in_small_blocks), decompress=remembered(bz2.decompress)
    )
    futures = {**vars(concurrent.futures), "ThreadPoolExecutor": ExecutorOfThisThread}
    bundle_processor.concurrent = types.SimpleNamespace(futures=types.SimpleNamespace(**futures))
    statesampler.StateSampler.start = start_without_samples
    statesampler.StateSampler.stop = stop_without_samples


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


def compress_in_small_blocks(data: bytes, compresslevel: int = 9) -> bytes:
    """Compresses what `bz2.decompress` reads; the largest blocks take long to set up for a few kilobytes."""
    return bz2.compress(data, 1)


class ExecutorOfThisThread(concurrent.futures.Executor):
    """An executor that runs a function at once: Beam makes the functions of each bundle in a thread."""

    def __init__(self, **settings: object) -> None:
        pass

    def submit(self, function, /, *args, **kwargs) -> concurrent.futures.Future:
        """Returns the result, or the error, of a function that has ended."""
        made: concurrent.futures.Future = concurrent.futures.Future()
        try:
            made.set_result(function(*args, **kwargs))
        except Exception as error:
            made.set_exception(error)
        return made


def start_without_samples(self) -> None:
    """Starts a bundle without the thread that samples, every 200 ms, which function it runs."""
    self.tracked_thread = threading.current_thread()
    statesampler.set_current_tracker(self)
    self.started = True


def stop_without_samples(self) -> None:
    """Ends a bundle of which no thread samples."""
    statesampler.set_current_tracker(None)
    self.finished = True


def refuse_prism(self, pipeline, options):
    """Makes Beam's direct runner run all pipelines itself.

    It first hands a pipeline to Prism, a runner of its own that it downloads from GitHub. Tests would run on
    Prism where GitHub answers; where it does not, each pipeline would be translated twice.
    """
    raise RuntimeError("tests run without Prism")
