"""Keeps a sight body's residual stream in the layout of ONNX Runtime's CPU convolutions.

This layout stores 8 or 16 channels together ("NCHWc" in ONNX Runtime's sources). In it, a convolution adds the skip connection
and applies the ReLU before it writes its result. In another layout each of these is a separate pass over memory, and the tensor
is reordered before and after. ONNX Runtime fuses them only if all inputs of the addition are in this layout and their shapes are
known to be equal. Two changes make that so, without changing a result:

- The stream begins with the sum of a convolution and a constant for each square, which is not the output of a convolution. So a
  convolution that copies its input is added behind it.
- After a reshape ONNX Runtime no longer knows that the first dimension is the batch. So the shapes are written into the file.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

BATCH = "batch"
_COPY = "_copy"  # suffix of the names of copying convolutions
_BOARD = [8, 8]


def keep_blocked(model: onnx.ModelProto) -> None:
    """Changes the model in place. A model without such a stream only gets the shapes."""
    _copy_entries(model)
    declare_batch(model)


def is_copy(node: onnx.NodeProto) -> bool:
    """Whether it is a convolution that only copies its input."""
    return node.op_type == "Conv" and node.name.endswith(_COPY)


def _copy_entries(model: onnx.ModelProto) -> None:
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


def declare_batch(model: onnx.ModelProto) -> None:
    """Writes the shapes of all fp32 tensors [N, C, 8, 8] into the file, with the name of the input's batch dimension for N."""
    inferred = shape_inference.infer_shapes(model).graph.value_info
    del model.graph.value_info[:]
    for value in inferred:
        kind = value.type.tensor_type
        sizes = [size.dim_value for size in kind.shape.dim]
        if kind.elem_type == TensorProto.FLOAT and len(sizes) == 4 and sizes[0] == 0 and sizes[1] > 0 and sizes[2:] == _BOARD:
            model.graph.value_info.append(helper.make_tensor_value_info(value.name, kind.elem_type, [BATCH, *sizes[1:]]))
