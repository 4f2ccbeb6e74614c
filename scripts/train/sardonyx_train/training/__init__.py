"""One training, from the shards to checkpoints, metrics and plots."""
