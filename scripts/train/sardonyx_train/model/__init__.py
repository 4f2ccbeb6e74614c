"""A configurable network: convolutional, transformer or sight body, with policy, value and moves-left heads."""
