"""One configurable family of networks: convolutional or transformer body, policy, value and moves-left heads."""
