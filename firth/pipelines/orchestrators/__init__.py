"""Pipelines compiled for Vertex and for Kubeflow, which run each component in a container."""
