"""What a user may choose: every tunable of a training and of a loop, named shapes of networks, encodings."""
