"""The worker of firth's engine `ctranslate2` of `benchmarks.generation`."""

from benchmarks.workers import generation_firth


class Model(generation_firth.Model):
    """Writes after prompts; see `benchmarks.workers.generation_work`."""

    options = staticmethod(
        lambda dtype, folder, size: {
            "engine": "ctranslate2",
            "quantization": dtype,
            "cache": f"{folder}/converted_{size.preset}",
        }
    )
