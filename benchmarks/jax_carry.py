"""Names of what is carried to a machine that has JAX alone."""

RECIPE, FEATURES = "recipe.json", "features.npz"
