"""Merges query and key of the attention policy into one matrix. The logits stay the same, with one dense layer less.

The rows of e are the embedded squares. The logit of a move from f to t is s · (e_f Q + q) · (e_t K + k). This equals
(e_f A + a) · e_t + r_f with A = s Q Kᵀ, a = s q Kᵀ and r_f = s (e_f Q + q) · k. Promotions multiply the key by another
matrix P, which becomes e_t K P + k P.

Only int8 files are merged; an fp32 file keeps the weights as they were trained.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

_POLICY = "/network/policy"


def merge_policy(model: onnx.ModelProto) -> None:
    """Changes a model of create_onnx, or one quantised from it, in place. Its weights must be initializers.

    Does nothing to a model without an attention policy.
    """
    nodes = {node.name: node for node in model.graph.node}
    logits = nodes.get(f"{_POLICY}/Mul")
    if logits is None or f"{_POLICY}/query/MatMul" not in nodes:
        return
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    scale = _read(tensors, logits)
    (query, query_bias), (key, key_bias) = (
        (_read(tensors, nodes[f"{_POLICY}/{part}/MatMul"]), _read(tensors, nodes[f"{_POLICY}/{part}/Add"])) for part in ("query", "key")
    )
    embedded = nodes[f"{_POLICY}/query/MatMul"].input[0]
    old_key = nodes[f"{_POLICY}/key/Add"].output[0]
    _write(tensors, nodes[f"{_POLICY}/query/MatMul"], scale * query @ key.T)
    _write(tensors, nodes[f"{_POLICY}/query/Add"], scale * query_bias @ key.T)
    added: list[onnx.NodeProto] = []
    promotion = nodes.get(f"{_POLICY}/promotion/MatMul")
    if promotion is not None:
        matrix = _read(tensors, promotion)
        _write(tensors, promotion, key @ matrix)
        name = promotion.output[0]
        promotion.output[0] = f"{name}_linear"
        bias = _store(model, f"{name}_bias", key_bias @ matrix)
        added.append(helper.make_node("Add", [promotion.output[0], bias], [name], f"{name}_add"))
    # r_f depends only on the from-square; it is added to all of its moves.
    column = _store(model, f"{_POLICY}/from/weight", scale * query @ key_bias[:, None])
    offset = _store(model, f"{_POLICY}/from/bias", scale * np.reshape(query_bias @ key_bias, (1,)))
    added.append(helper.make_node("MatMul", [embedded, column], [f"{_POLICY}/from/linear"], f"{_POLICY}/from/MatMul"))
    added.append(helper.make_node("Add", [f"{_POLICY}/from/linear", offset], [f"{_POLICY}/from"], f"{_POLICY}/from/Add"))
    product = next(name for name in logits.input if name not in tensors)
    added.append(helper.make_node("Add", [product, f"{_POLICY}/from"], list(logits.output), logits.name))
    gone = [logits, nodes[f"{_POLICY}/key/MatMul"], nodes[f"{_POLICY}/key/Add"]]
    kept = [node for node in model.graph.node if node not in gone]
    for node in kept:
        node.input[:] = [embedded if name == old_key else name for name in node.input]
    _replace_nodes(model, [*kept, *added])


def _read(tensors: dict[str, onnx.TensorProto], node: onnx.NodeProto) -> np.ndarray:
    """The node's constant input, in double precision."""
    name = next(name for name in node.input if name in tensors)
    return numpy_helper.to_array(tensors[name]).astype(np.float64)


def _write(tensors: dict[str, onnx.TensorProto], node: onnx.NodeProto, values: np.ndarray) -> None:
    name = next(name for name in node.input if name in tensors)
    tensors[name].CopyFrom(numpy_helper.from_array(values.astype(np.float32), name))


def _store(model: onnx.ModelProto, name: str, values: np.ndarray) -> str:
    model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), name))
    return name


def _replace_nodes(model: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> None:
    """Replaces all nodes, in topological order, and removes the weights that no node reads."""
    read = {name for node in nodes for name in node.input}
    known = {tensor.name for tensor in [*model.graph.initializer, *model.graph.input]} | {""}
    ordered: list[onnx.NodeProto] = []
    while nodes:
        ready = [node for node in nodes if known.issuperset(node.input)]
        if not ready:
            raise ValueError(f"{nodes[0].name} reads a tensor that no node writes")
        ordered += ready
        known.update(name for node in ready for name in node.output)
        nodes = [node for node in nodes if node not in ready]
    weights = [tensor for tensor in model.graph.initializer if tensor.name in read]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(ordered)
    model.graph.initializer.extend(weights)
