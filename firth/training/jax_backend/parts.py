"""What a training is made of on JAX."""

from firth.recipes.run.run_recipe import RunRecipe
from firth.training.backends import BackendParts
from firth.training.distribution import prepare_devices
from firth.training.jax_backend.block import build_jax_block
from firth.training.jax_backend.checkpoints import JaxCheckpoints
from firth.training.jax_backend.devices import use_devices
from firth.training.jax_backend.held_out import JaxHeldOut


def _prepare(recipe: RunRecipe) -> None:
    prepare_devices(recipe.training)
    use_devices(recipe)


JAX = BackendParts(
    "jax",
    False,
    _prepare,
    lambda folder, model, optimizer, _: JaxCheckpoints(folder, model, optimizer),
    lambda recipe, model, optimizer, _: build_jax_block(recipe, model, optimizer),
    JaxHeldOut,
)
