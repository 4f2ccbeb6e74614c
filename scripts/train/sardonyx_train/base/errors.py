"""What can go wrong without being a fault of the program."""

STOPPED_STATUS = 130


class TrainError(Exception):
    """Ends the program with status 1; its text is what the user reads: one sentence, or one line for each wrong key."""


class Stopped(Exception):
    """The program was asked to stop; everything finished so far is on disk. Its text says what resumes it. Status `STOPPED_STATUS`."""

    def __init__(self, resumed_by: str = "the same command") -> None:
        super().__init__(f"{resumed_by} resumes it")
