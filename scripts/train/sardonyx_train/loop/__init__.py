"""The road from self-play to a better network: games, replay window, training, export, gate, over and over.

The loop knows no chess and no tensors: it runs the engine and the trainer as child processes and keeps the books.
`state.json` is the only truth about which generation is under way and which network is best; everything else is
files that appear whole or not at all, so that the loop may be killed anywhere and started again.
"""
