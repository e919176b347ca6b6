"""A server of exported models: TF Serving's API, OpenAI's, and answers of encoders."""
