"""Tasks: calls of the engine that leave files, on this machine or on a Ray cluster, whose nodes need the standard library only."""
