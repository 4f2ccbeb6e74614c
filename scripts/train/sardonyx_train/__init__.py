"""Training and export of Sardonyx networks: Arrow shards in, ONNX files out.

It knows tensors, not chess: `sardonyx shards` encodes positions, legal moves and policy indices.
"""
