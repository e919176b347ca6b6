"""Writes texts on JAX in a process of its own, with weights of a file: texts_on_jax.py WEIGHTS NAME."""

import json
import os
import subprocess
import sys

import numpy as np

# Both samplers in a call.
KINDS = ("greedy", "sample", "sample")


def texts_of(name, folder):
    """Returns ids and logarithms of their probabilities of the process, for each prompt of `cases`."""
    from tests.generation.cases import generator_of

    path = os.path.join(folder, "weights.npz")
    np.savez(path, *(each.numpy() for each in generator_of(name).model.weights))
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", __name__, path, name]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(path, name):
    """Prints the texts as JSON."""
    from tests.generation.cases import PROMPTS, generator_of, request_of

    generator = generator_of(name)
    with np.load(path) as weights:
        for variable, value in zip(generator.model.weights, weights.values(), strict=True):
            variable.assign(value)
    requests = [request_of(kind, number) for number, kind in enumerate(KINDS)]
    written = generator.generate(PROMPTS, requests)
    print(json.dumps([(each.text, each.ids, each.log_probabilities) for each in written]))


if __name__ == "__main__":
    main(*sys.argv[1:])
