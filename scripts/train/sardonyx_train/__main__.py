"""`python -m sardonyx_train COMMAND` is `sardonyx-train COMMAND`."""

from .program import start

if __name__ == "__main__":
    start()
