"""Arrow shards → minibatches of tensors."""
