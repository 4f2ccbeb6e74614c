"""A sight body's residual stream stays in the layout in which ONNX Runtime convolves on CPUs.

That layout keeps 8 or 16 channels together ("NCHWc" in ONNX Runtime's sources). There a convolution adds the skip connection
and applies the ReLU before it writes its result; anywhere else each is a pass over memory of its own, and the tensor is
reordered before and after. ONNX Runtime does so only if all inputs of the addition are in that layout already and their
shapes are known to be equal. Two things stand in its way, and neither changes an answer when it is removed:

- The stream begins with the sum of a convolution and a constant for each square, which is no convolution's output. A
  convolution that copies its input follows it.
- A reshape hides that its first dimension is the batch. The shapes say so.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

BATCH = "batch"
_COPY = "_copy"  # how the copying convolutions' names end
_BOARD = [8, 8]


def keep_blocked(model: onnx.ModelProto) -> None:
    """In place. A model without such a stream only gains the shapes."""
    _copy_entries(model)
    declare_batch(model)


def is_copy(node: onnx.NodeProto) -> bool:
    """Whether it is a convolution that only copies its input."""
    return node.op_type == "Conv" and node.name.endswith(_COPY)


def _copy_entries(model: onnx.ModelProto) -> None:
    """A depthwise 1×1 convolution of ones behind every ReLU whose input is a sum with a constant for each square."""
    squares = {w.name: w.dims[1] for w in model.graph.initializer if len(w.dims) == 4 and [w.dims[0], *w.dims[2:]] == [1, *_BOARD]}
    sums = {node.output[0]: squares[name] for node in model.graph.node if node.op_type == "Add" for name in node.input if name in squares}
    for index, node in reversed(list(enumerate(model.graph.node))):
        if node.op_type != "Relu" or node.input[0] not in sums:
            continue
        channels = sums[node.input[0]]
        name = node.output[0]
        node.output[0] = f"{name}_plain"
        ones = numpy_helper.from_array(np.ones((channels, 1, 1, 1), np.float32), f"{name}_ones")
        # No initializer: those are the network's weights, which recover.py looks for.
        constant = helper.make_node("Constant", [], [ones.name], value=ones)
        copy = helper.make_node("Conv", [node.output[0], ones.name], [name], f"{name}{_COPY}", group=channels, kernel_shape=[1, 1])
        model.graph.node.insert(index + 1, constant)
        model.graph.node.insert(index + 2, copy)


def declare_batch(model: onnx.ModelProto) -> None:
    """Writes the shapes of all [N, C, 8, 8] in single precision into the file, N by the input's name for it."""
    inferred = shape_inference.infer_shapes(model).graph.value_info
    del model.graph.value_info[:]
    for value in inferred:
        kind = value.type.tensor_type
        sizes = [size.dim_value for size in kind.shape.dim]
        if kind.elem_type == TensorProto.FLOAT and len(sizes) == 4 and sizes[0] == 0 and sizes[1] > 0 and sizes[2:] == _BOARD:
            model.graph.value_info.append(helper.make_tensor_value_info(value.name, kind.elem_type, [BATCH, *sizes[1:]]))
