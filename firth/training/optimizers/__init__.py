"""Optimizers that give the same result on any number of replicas, and the schedules of their rates."""
