"""What can go wrong without being a fault of the program: the text of each is one sentence for the user, and the program prints it."""


class TrainError(Exception):
    """Ends the program with its text and status 1."""


class ConfigError(TrainError):
    """The configuration or a flag is wrong; the text names each wrong key and says why."""


class ShardError(TrainError):
    """A shard or a folder of shards cannot be used; the text says which and why."""


class CheckpointError(TrainError):
    """A checkpoint cannot be used; the text says why."""


class FolderBusy(TrainError):
    """Another process works in the folder; the text names the folder."""


class LoopError(TrainError):
    """The loop or a spread task cannot continue; the text says why, in one sentence or one line for each error."""


class Stopped(Exception):
    """The program was asked to stop; everything finished so far is on disk, and the same command resumes it. Status 130."""
