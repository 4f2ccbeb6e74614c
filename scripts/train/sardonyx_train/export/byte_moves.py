"""Splits, reshapes and transposes quantised tensors as bytes instead of dequantising them before and quantising them after.

ONNX Runtime fuses a layer with the QuantizeLinear and DequantizeLinear nodes around it, but runs operators that only move
values between two layers in fp32.
"""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper, numpy_helper

_MOVES = ("Split", "Reshape", "Transpose")
_ROUND, _UNROUND = "QuantizeLinear", "DequantizeLinear"


def move_bytes(model: onnx.ModelProto) -> None:
    """Changes the model in place. Moved values keep the scale of their source; a second quantisation after the move is removed."""
    _cast_to_bytes(model)
    rounded = {name for node in model.graph.node if node.op_type == _ROUND for name in node.output}
    nodes: list[onnx.NodeProto] = []
    sources: dict[str, list[str]] = {}  # fp32 tensor, or one quantised again → the bytes, their scale and zero point
    for node in model.graph.node:
        source = sources.get(node.input[0]) if node.input else None
        if node.op_type == _ROUND and source is not None:
            sources[node.output[0]] = source
            continue
        nodes.append(node)
        if node.op_type == _UNROUND and (source is not None or node.input[0] in rounded):
            node.input[:] = source or node.input
            sources[node.output[0]] = list(node.input)
        elif node.op_type in _MOVES and source is not None:
            node.input[0] = source[0]
            for i, name in enumerate(node.output):
                node.output[i] = f"{name}_bytes"
                sources[name] = [node.output[i], *source[1:]]
                nodes.append(helper.make_node(_UNROUND, sources[name], [name], f"{name}_unround"))
    del model.graph.node[:]
    model.graph.node.extend(_drop_unread(nodes, {output.name for output in model.graph.output}))


def _drop_unread(nodes: list[onnx.NodeProto], wanted: set[str]) -> list[onnx.NodeProto]:
    """Removes nodes whose outputs nothing reads, because ONNX Runtime might compute them."""
    kept: list[onnx.NodeProto] = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    return kept[::-1]


def _cast_to_bytes(model: onnx.ModelProto) -> None:
    """Casts boolean tensors directly to bytes if they are cast to float and then quantised with scale 1."""
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    casts = {node.output[0]: node for node in model.graph.node if node.op_type == "Cast"}
    logical = {name for node in model.graph.node if node.op_type in ("And", "Equal") for name in node.output}
    for node in model.graph.node:
        cast = casts.get(node.input[0]) if node.op_type == _ROUND else None
        if cast is None or cast.input[0] not in logical or numpy_helper.to_array(tensors[node.input[1]]).item() != 1:
            continue
        node.op_type = "Cast"
        node.input[:] = cast.input
        node.attribute.append(helper.make_attribute("to", TensorProto.UINT8))
