"""How a model is trained, judged and served."""
