"""Passes over an ONNX graph that change its speed, not what it computes. Each changes a model in place.

`copy_entries` and `declare_batch` keep a sight body's residual stream in the layout of ONNX Runtime's CPU convolutions, which stores 8
or 16 channels together ("NCHWc" in its sources). In it, a convolution adds the skip connection and applies the ReLU before it writes its
result. In another layout each of these is a separate pass over memory, and the tensor is reordered before and after. ONNX Runtime fuses
them only if all inputs of the addition are in this layout and their shapes are known to be equal. Two changes make that so:

- The stream begins with the sum of a convolution and a constant for each square, which is not the output of a convolution. So a
  convolution that copies its input is added behind it.
- After a reshape ONNX Runtime no longer knows that the first dimension is the batch. So the shapes are written into the file.

`move_bytes` splits, reshapes and transposes quantised tensors as bytes instead of dequantising them before and quantising them after:
ONNX Runtime fuses a layer with the QuantizeLinear and DequantizeLinear nodes around it, but runs operators that only move values
between two layers in fp32.

`pack_tables` stores large constants of small whole numbers, such as which squares lie between two others, as bytes: ONNX Runtime expands
them when it loads the file.

`merge_policy` makes one matrix of query and key of the attention policy, which is one dense layer less. The rows of e are the embedded
squares. The logit of a move from f to t is s · (e_f Q + q) · (e_t K + k). This equals (e_f A + a) · e_t + r_f with A = s Q Kᵀ, a = s q Kᵀ
and r_f = s (e_f Q + q) · k. Promotions multiply the key by another matrix P, which becomes e_t K P + k P. Only int8 files are merged; an
fp32 file keeps the weights as they were trained.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference
from onnxruntime.transformers.onnx_model import OnnxModel

BATCH = "batch"
_COPY = "_copy"  # suffix of the names of copying convolutions
_BOARD = [8, 8]
_LARGE_BYTES = 65536
_MOVES = ("Split", "Reshape", "Transpose")
_ROUND, _UNROUND = "QuantizeLinear", "DequantizeLinear"
_POLICY = "/network/policy"


def is_copy(node: onnx.NodeProto) -> bool:
    """Whether it is a convolution that only copies its input."""
    return node.op_type == "Conv" and node.name.endswith(_COPY)


def copy_entries(model: onnx.ModelProto) -> None:
    """Adds a depthwise 1×1 convolution with weights 1 behind every ReLU of a sum with a constant for each square."""
    squares = {w.name: w.dims[1] for w in model.graph.initializer if len(w.dims) == 4 and [w.dims[0], *w.dims[2:]] == [1, *_BOARD]}
    sums = {node.output[0]: squares[name] for node in model.graph.node if node.op_type == "Add" for name in node.input if name in squares}
    for index, node in reversed(list(enumerate(model.graph.node))):
        if node.op_type != "Relu" or node.input[0] not in sums:
            continue
        channels = sums[node.input[0]]
        name = node.output[0]
        node.output[0] = f"{name}_plain"
        ones = numpy_helper.from_array(np.ones((channels, 1, 1, 1), np.float32), f"{name}_ones")
        # Not an initializer: those are the weights that were trained.
        constant = helper.make_node("Constant", [], [ones.name], value=ones)
        copy = helper.make_node("Conv", [node.output[0], ones.name], [name], f"{name}{_COPY}", group=channels, kernel_shape=[1, 1])
        model.graph.node.insert(index + 1, constant)
        model.graph.node.insert(index + 2, copy)


def pack_tables(model: onnx.ModelProto) -> None:
    for index, node in reversed(list(enumerate(model.graph.node))):
        values = numpy_helper.to_array(node.attribute[0].t) if node.op_type == "Constant" and node.ByteSize() > _LARGE_BYTES else None
        if values is None or values.dtype != np.float32 or not np.array_equal(values, values.astype(np.uint8)):
            continue
        name = node.output[0]
        node.output[0] = f"{name}_bytes"
        node.attribute[0].t.CopyFrom(numpy_helper.from_array(values.astype(np.uint8), name))
        model.graph.node.insert(index + 1, helper.make_node("Cast", [node.output[0]], [name], f"{name}_floats", to=TensorProto.FLOAT))


def declare_batch(model: onnx.ModelProto) -> None:
    """Writes the shapes of all fp32 tensors [N, C, 8, 8] into the file, with the name of the input's batch dimension for N."""
    inferred = shape_inference.infer_shapes(model).graph.value_info
    del model.graph.value_info[:]
    for value in inferred:
        kind = value.type.tensor_type
        sizes = [size.dim_value for size in kind.shape.dim]
        if kind.elem_type == TensorProto.FLOAT and len(sizes) == 4 and sizes[0] == 0 and sizes[1] > 0 and sizes[2:] == _BOARD:
            model.graph.value_info.append(helper.make_tensor_value_info(value.name, kind.elem_type, [BATCH, *sizes[1:]]))


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
    _replace_nodes(model, nodes)


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
    """Replaces all nodes, in topological order, without those and without weights that nothing reads: ONNX Runtime might compute them."""
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    wrapped = OnnxModel(model)
    wrapped.topological_sort()
    wrapped.prune_graph()
