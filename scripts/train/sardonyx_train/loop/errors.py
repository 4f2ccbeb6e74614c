"""What goes wrong in a loop, each with a text for the user."""


class LoopError(Exception):
    """The loop cannot go on; the text says why, in one sentence or one line a fault."""


class Stopped(Exception):
    """Somebody asked the loop to stop; everything finished so far is on disk."""
