"""Quantises an fp32 ONNX model to int8, for CPUs: static quantisation, calibrated on shards.

Quantised: convolutions, dense layers that read a whole board, and the products between squares. Weights have one scale per
output channel. Activations are quantised over the range of their values in the calibration positions (clipping at percentiles
was ten times worse). The products between squares read quantised inputs, but their results stay fp32: quantising them takes
longer and doubles the KL divergence of the policy.

Kept in fp32: squeeze-excitation and attention (slower or less exact in int8); a first convolution with a 1×1 kernel;
convolutions behind a gate, whose inputs have long tails (nine tenths of the loss); and the layers that compute the policy
logits (thirty times worse).

CPUs without VNNI add two products of an unsigned 8-bit activation and a signed 8-bit weight in 16 bits and clip the sum.
So weights have 7 bits where activations have 8. In the first convolution it is the other way round: all planes but one are 0 or
1 and need no 8 bits, and its weights need them most.

In networks without squeeze-excitation, the values that a block adds to the skip connection, and those that enter a gate, have
long tails: the largest are sixty times the standard deviation, and quantising over their full range cost two points of top-1
accuracy. So these ranges are narrowed, and the tails clipped, as long as the results get nearer to those of the fp32 model.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import torch
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from ..data.batch import Batch
from ..training.losses import mask_illegal
from .graph import INPUT_NAME, POLICY_NAME
from .passes import declare_batch, is_copy, merge_policy, move_bytes
from .verify import create_session

PRECISION_KEY = "sardonyx.precision"
PLANE_LEVELS = 127  # a plane's 1
_ACTIVATION_LEVELS = 255
_LAYERS = ("Conv", "Gemm")
_COUNTING = re.compile(r"/lines/MatMul$")  # name of the product that counts the men between two squares
_MIXING = re.compile(r"/body/blocks\.\d+/MatMul(_\d+)?$")  # names of a sight body's products between squares
_LARGEST_PAIR_SUM = 2**15 - 1
_RANGE_SHARES = (0.7, 0.5, 0.35, 0.25, 0.18, 0.12)  # factors to try on all ranges together …
_REFINED_SHARES = (0.7, 1.4)  # … and then on each range
_NARROWING_POSITIONS = 1000  # number of calibration positions that decide about the factors, at least


def quantise(model: onnx.ModelProto, calibration: Iterable[Batch], keep: Iterable[str] = ()) -> onnx.ModelProto:
    """Returns a QDQ model, which ONNX Runtime runs as QLinearConv.

    `keep`: layers whose names contain one of these texts also stay fp32.
    """
    kept = {p.key: p.value for p in model.metadata_props}
    batches = list(calibration)
    inputs = ({INPUT_NAME: batch.expand_planes().numpy()} for batch in batches)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "network.onnx"
        quant_pre_process(model, place, skip_optimization=True, skip_symbolic_shape=True)
        graph = onnx.load(place)
        store_constants(graph)
        onnx.save(graph, place)
        layers = [n for n in graph.graph.node if n.op_type in _LAYERS]
        for part in keep:
            if not any(part in n.name for n in layers):
                raise ValueError(f"--keep: no layer has '{part}' in its name: {', '.join(n.name for n in layers)}")
        excluded = [n.name for n in layers if any(part in n.name for part in keep)]
        excluded += [n.name for n in graph.graph.node if n.op_type in (*_LAYERS, "MatMul") and not _is_layer(n)]
        quantize_static(
            place,
            place,
            SimpleNamespace(get_next=lambda: next(inputs, None)),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=[*_LAYERS, "MatMul", "Relu"],  # a ReLU after a layer becomes part of its output range
            nodes_to_exclude=[*excluded, *find_logit_layers(graph), *_find_small_layers(graph), *_find_delicate(graph)],
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
            extra_options={"TensorQuantOverrides": _describe_scales(graph), "OpTypesToExcludeOutputQuantization": ["MatMul"]},
        )
        quantised = onnx.load(place)
    for change in (_bypass_rounding, move_bytes, merge_policy, declare_batch):
        change(quantised)
    _narrow_ranges(quantised, model, take_evenly(batches, _NARROWING_POSITIONS))
    check_pair_sums(quantised)
    quantised.producer_name, quantised.producer_version = model.producer_name, model.producer_version
    onnx.helper.set_model_props(quantised, kept | {PRECISION_KEY: "int8"})  # without the quantiser's own
    onnx.checker.check_model(quantised)
    return quantised


def take_evenly(batches: list[Batch], positions: int) -> list[Batch]:
    """Every k-th minibatch, with the largest k for which they hold at least `positions` positions; all if there are fewer."""
    return batches[:: max(1, sum(batch.size for batch in batches) // positions)]


def store_constants(model: onnx.ModelProto) -> None:
    """Turns Constant nodes into initializers, because the quantiser stores only those as bytes."""
    for node in [n for n in model.graph.node if n.op_type == "Constant"]:
        tensor = node.attribute[0].t
        tensor.name = node.output[0]
        model.graph.initializer.append(tensor)
        model.graph.node.remove(node)


def _describe_scales(model: onnx.ModelProto) -> dict[str, list[dict[str, Any]]]:
    """The quantiser's overrides for the first convolutions, whose scaled planes are in [0, 1], and for the products between squares.

    A learned matrix gets one scale in all, because ONNX Runtime supports no other here. Small whole numbers (men, numbers of men
    between two squares, lines of sight) get the scale 1 and stay exact.
    """
    weights = {tensor.name for tensor in model.graph.initializer}
    planes = {"scale": np.array(1 / PLANE_LEVELS, np.float32), "zero_point": np.array(0, np.uint8)}
    kernels = {"axis": 0, "quant_type": QuantType.QInt8, "symmetric": True, "reduce_range": False}
    learned = {"quant_type": QuantType.QInt8, "symmetric": True, "reduce_range": True}
    whole: dict[str, Any] = {"scale": np.array(1, np.float32), "zero_point": np.array(0, np.uint8)}
    overrides: dict[str, list[dict[str, Any]]] = {}
    for node in model.graph.node:
        if reads_planes(model, node):
            overrides |= {node.input[0]: [planes], node.input[1]: [kernels]}
        elif _is_counting(node):
            overrides |= {node.input[0]: [whole], node.output[0]: [whole]}
            overrides[node.input[1]] = [{"quant_type": QuantType.QInt8, **whole, "zero_point": np.array(0, np.int8)}]
        elif _is_mixing(node):
            overrides[node.input[1]] = [learned if node.input[1] in weights else whole]
    return overrides


def _is_mixing(node: onnx.NodeProto) -> bool:
    return node.op_type == "MatMul" and _MIXING.search(node.name) is not None


def _is_counting(node: onnx.NodeProto) -> bool:
    return node.op_type == "MatMul" and _COUNTING.search(node.name) is not None


def _is_layer(node: onnx.NodeProto) -> bool:
    """Whether the node is of a kind that is quantised: a convolution, a dense layer or a product between squares."""
    return (node.op_type in _LAYERS and not is_copy(node)) or _is_mixing(node) or _is_counting(node)


def reads_planes(model: onnx.ModelProto, node: onnx.NodeProto) -> bool:
    """Whether the node is a convolution of the input planes, which may be scaled, quantised or followed by board features."""
    maker = {name: made for made in model.graph.node for name in made.output}
    source = node.input[0] if node.op_type == "Conv" else ""
    while source in maker and maker[source].op_type in ("Mul", "Concat", "QuantizeLinear", "DequantizeLinear"):
        source = maker[source].input[0]
    return source == INPUT_NAME


def _bypass_rounding(model: onnx.ModelProto) -> None:
    """Gives all readers of a tensor but quantised layers its fp32 values, in place: skip connections and other heads.

    The quantiser had rounded the tensor for all its readers. Outputs of quantised layers stay rounded, because their kernels
    round them, and a ReLU after them is part of that rounding.
    """
    maker = {name: node for node in model.graph.node for name in node.output}
    exact: dict[str, str] = {}
    for node in model.graph.node:
        rounding = maker.get(node.input[0]) if node.op_type == "DequantizeLinear" else None
        if rounding is None or rounding.op_type != "QuantizeLinear":
            continue
        source = maker.get(rounding.input[0])
        if source is not None and not _is_layer(source):
            exact[node.output[0]] = rounding.input[0]
    for node in model.graph.node:
        if _find_weights(model, maker, node) is None and not (_is_mixing(node) or _is_counting(node)):
            for i, name in enumerate(node.input):
                node.input[i] = exact.get(name, name)


def _narrow_ranges(quantised: onnx.ModelProto, exact: onnx.ModelProto, batches: list[Batch]) -> None:
    """Narrows ranges, in place, to where policy and value differ least from the fp32 model's.

    Changes only tensors that no layer reads: the quantised biases of a layer depend on the scale of its input.
    """
    free = _find_free_scales(quantised)
    if not free:
        return
    wanted = list(_run(exact, batches))

    def measure() -> float:
        """Mean KL divergence of the policies plus mean absolute difference of the values."""
        pairs = zip(wanted, _run(quantised, batches), strict=True)
        return sum(float((p.exp() * (p - q)).sum(1).mean() + (v - w).abs().mean()) for (p, v), (q, w) in pairs) / len(wanted)

    least = measure()
    for scales, shares in [(free, _RANGE_SHARES), *(([scale], _REFINED_SHARES) for scale in free)]:
        first = [onnx.numpy_helper.to_array(scale) for scale in scales]
        chosen = 1.0
        for share in shares:
            _set_scales(scales, first, share)
            difference = measure()
            if difference < least:
                least, chosen = difference, share
        _set_scales(scales, first, chosen)


def _find_free_scales(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    """Scales of layers' outputs that only skip connections, gates and products read."""
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    maker = {name: node for node in model.graph.node for name in node.output}
    bound: set[str] = set()
    for node in model.graph.node:
        source = maker.get(node.input[0]) if node.op_type in _LAYERS else None
        while source is not None and source.op_type == "Flatten":
            source = maker.get(source.input[0])
        if source is not None and source.op_type == "DequantizeLinear":
            bound.add(source.input[1])
    roundings = [n for n in model.graph.node if n.op_type == "QuantizeLinear" and n.input[0] in maker]
    made = [n for n in roundings if _is_layer(maker[n.input[0]])]
    return [tensors[n.input[1]] for n in made if n.input[1] not in bound]


def _set_scales(scales: list[onnx.TensorProto], first: list[np.ndarray], share: float) -> None:
    for scale, value in zip(scales, first, strict=True):
        scale.CopyFrom(onnx.numpy_helper.from_array((value * share).astype(np.float32), scale.name))


def _run(model: onnx.ModelProto, batches: Iterable[Batch]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields for each minibatch the log probabilities of the moves (legal ones only) and the output of the value head."""
    session = create_session(model)
    for batch in batches:
        outputs = session.run(None, {INPUT_NAME: batch.expand_planes().numpy()})
        policy, value = map(torch.from_numpy, outputs[:2])
        yield mask_illegal(policy, batch.legal).log_softmax(1), value


def _find_weights(model: onnx.ModelProto, maker: dict[str, onnx.NodeProto], node: onnx.NodeProto) -> onnx.TensorProto | None:
    """The int8 weights of a quantised layer; None for other nodes."""
    rounding = maker.get(node.input[1]) if _is_layer(node) else None
    if rounding is None or rounding.op_type != "DequantizeLinear":
        return None
    return next((w for w in model.graph.initializer if w.name == rounding.input[0]), None)


def check_pair_sums(model: onnx.ModelProto) -> None:
    """Raises ValueError if the sum of two products may exceed 16 bits, because CPUs without VNNI would clip it."""
    maker = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        weights = _find_weights(model, maker, node)
        if weights is None:
            continue
        levels = PLANE_LEVELS if reads_planes(model, node) else _ACTIVATION_LEVELS
        largest = 2 * levels * int(np.abs(onnx.numpy_helper.to_array(weights).astype(int)).max())
        if largest > _LARGEST_PAIR_SUM:
            raise ValueError(f"{node.name}: the sum of two products can reach {largest}, more than {_LARGEST_PAIR_SUM}")


def _find_small_layers(model: onnx.ModelProto) -> list[str]:
    """Dense layers that read less than a whole board. Quantising them costs more time than it saves."""
    flat = {name for node in model.graph.node if node.op_type == "Flatten" for name in node.output}
    return [n.name for n in model.graph.node if n.op_type == "Gemm" and n.input[0] not in flat]


def _find_delicate(model: onnx.ModelProto) -> list[str]:
    """First convolutions with 1×1 kernels, and convolutions that read the product of a gate."""
    sizes = {tensor.name: list(tensor.dims[2:]) for tensor in model.graph.initializer}
    convolutions = [n for n in model.graph.node if n.op_type == "Conv"]
    products = {name for node in model.graph.node if node.op_type == "Mul" for name in node.output}
    return [n.name for n in convolutions if (sizes[n.input[1]] == [1, 1] if reads_planes(model, n) else n.input[0] in products)]


def find_logit_layers(model: onnx.ModelProto) -> list[str]:
    """The last convolution or dense layer before the policy output, on each path to it."""
    maker = {name: node for node in model.graph.node for name in node.output}
    found: list[str] = []
    pending = [POLICY_NAME]
    while pending:
        node = maker.get(pending.pop())
        if node is None or node.op_type == "MatMul":
            continue
        if node.op_type in _LAYERS:
            found.append(node.name)
        else:
            pending.extend(node.input)
    return found
