"""The training loop. Each generation plays games, trains on a replay window, exports a network and tests it in a gate match.

The loop knows no chess and no tensors: it runs the engine and the trainer as child processes and records their results.
Only `state.json` says which generation is running and which network is best. All other files are written under a temporary
name and renamed when complete, so the loop may be killed at any time and started again.
"""
