"""The commands of `sardonyx-train`: options in, exit status out. `program.py` declares their flags."""
