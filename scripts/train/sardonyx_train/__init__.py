"""Training and export of Sardonyx networks: Arrow shards in, ONNX files out.

Knows tensors, not chess: positions, legal moves and policy indices come encoded from `sardonyx shards`.
"""
