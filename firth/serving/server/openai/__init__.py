"""OpenAI's API for models with slots, and its embeddings, by the shapes of its official client."""
