"""Options of Beam that depend on the places of its workers and of a pipeline's artifacts."""

import contextlib
import difflib
import io
from collections.abc import Sequence

from apache_beam.options.pipeline_options import PipelineOptions

# Its import lets TensorFlow read s3://.
S3_PLUGIN = "firth.corpus.workers.s3"
# TFX makes a package of itself in each component and sends it to the workers, unless an option names their
# packages. Workers need firth, which needs TFX, so an environment that a user names has both.
_WORKERS_HAVE_TFX = "--sdk_container_image=none"
_PACKAGES = ("extra_packages", "requirements_file", "sdk_container_image", "setup_file")
# Least similarity of an unknown option to the one that is suggested.
_NEAR = 0.8


def check_options(beam_pipeline_args: Sequence[str]) -> list[str]:
    """Returns a line for each option that Beam does not know, but knows by nearly the same name.

    Such an option is not refused, since a runner may have options of its own.

    Example:

    >>> check_options(["--runer=FlinkRunner", "--parallelism=4"])
    ['--runer: Beam does not know it and leaves it to the runner; did you mean --runner?']
    >>> check_options(["--direct_num_workers=two"])
    Traceback (most recent call last):
    ValueError: argument --direct_num_workers: invalid int value: 'two'
    """
    options, output = PipelineOptions(list(beam_pipeline_args)), io.StringIO()
    try:
        with contextlib.redirect_stderr(output):
            known = options.get_all_options()
            unknown = options.get_all_options(retain_unknown_options=True).keys() - known.keys()
    except SystemExit:
        # Its last line, after the options of all runners.
        raise ValueError(output.getvalue().strip().splitlines()[-1].partition("error: ")[2]) from None
    near = {name: difflib.get_close_matches(name, known, 1, _NEAR) for name in sorted(unknown)}
    return [
        f"--{name}: Beam does not know it and leaves it to the runner; did you mean --{found[0]}?"
        for name, found in near.items()
        if found
    ]


def options_for(root: str, beam_pipeline_args: Sequence[str]) -> list[str]:
    """Returns options of Beam that send no TFX to workers that have it, and let them read the artifacts.

    Example:

    >>> options_for("s3://bucket/run", ["--runner=FlinkRunner"])
    ['--runner=FlinkRunner', '--beam_plugin=firth.corpus.workers.s3']
    >>> options_for("runs/a", ["--runner=PortableRunner", "--environment_type=PROCESS"])[2:]
    ['--sdk_container_image=none']
    >>> options_for("runs/a", ["--runner=FlinkRunner"]), options_for("s3://bucket/run", [])
    (['--runner=FlinkRunner'], [])
    """
    if not beam_pipeline_args:
        return []
    options = list(beam_pipeline_args)
    stated = PipelineOptions(options).get_all_options(drop_default=True)
    here = stated.get("direct_running_mode") == "multi_processing"
    named = here or stated.get("environment_type")
    if named and not any(stated.get(each) for each in _PACKAGES):
        options.append(_WORKERS_HAVE_TFX)
    if root.startswith("s3://"):
        options.append(f"--beam_plugin={S3_PLUGIN}")
    return options
