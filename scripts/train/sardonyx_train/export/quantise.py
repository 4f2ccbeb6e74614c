"""fp32 ONNX → int8, for CPUs: static quantisation, calibrated on shards.

Quantised are convolutions, the dense layers that read a whole board, and the products that mix squares: weights per
output channel, activations by their smallest and largest value over the calibration positions (percentile clipping
measured ten times worse). What stays fp32: squeeze-excitation arithmetic and attention (slower or less exact in int8), a
first convolution that sees one square only, convolutions behind a gate, whose products have long tails (nine tenths of
the loss), and the layers that make policy logits (thirty times worse). The products between squares read rounded numbers,
but their results are not rounded: that takes longer and doubles the policy's KL divergence.

CPUs without VNNI add two products of an unsigned 8-bit activation and a signed 8-bit weight in 16 bits and clip the sum.
So activations of 8 bits meet weights of 7. The planes need no 8 bits, all being 0 or 1 but one: they take 7, and the
first convolution, whose rounding hurt most, has weights of 8.

What the blocks of a network without squeeze-excitation add to the skip connection has a long tail on both sides: largest
values of sixty times the standard deviation, and rounding by them cost two points of top-1. So has what goes into a gate.
So ranges are narrowed as far as the answers get nearer to the exact ones, and the tail is cut.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from ..data.batch import Batch
from ..data.batch import expand_planes
from ..losses import mask_illegal
from .blocked_layout import declare_batch, is_copy
from .byte_moves import move_bytes
from .graph import INPUT_NAME, POLICY_NAME, set_metadata
from .merge_policy import merge_policy
from .verify import create_session

PRECISION_KEY = "sardonyx.precision"
PLANE_LEVELS = 127  # a plane's 1
_ACTIVATION_LEVELS = 255
_LAYERS = ("Conv", "Gemm")
_COUNTING = re.compile(r"/lines/MatMul$")  # name of the product that counts the men between two squares
_MIXING = re.compile(r"/body/blocks\.\d+/MatMul(_\d+)?$")  # names of a sight body's products
_LARGEST_PAIR_SUM = 2**15 - 1
_RANGE_SHARES = (0.7, 0.5, 0.35, 0.25, 0.18, 0.12)  # that the ranges are narrowed to, all alike …
_REFINED_SHARES = (0.7, 1.4)  # … and then each
_NARROWING_POSITIONS = 1000  # of the calibration that decide it, at least; every k-th minibatch


class _Calibration(CalibrationDataReader):
    def __init__(self, batches: Iterable[Batch], value_planes: torch.Tensor) -> None:
        self._batches: Iterator[Batch] = iter(batches)
        self._value_planes = value_planes

    def get_next(self) -> dict[str, np.ndarray] | None:
        batch = next(self._batches, None)
        if batch is None:
            return None
        return {INPUT_NAME: expand_planes(batch.masks, batch.values, self._value_planes).numpy()}


def quantise(
    model: onnx.ModelProto, calibration: Iterable[Batch], value_planes: torch.Tensor, keep: Iterable[str] = ()
) -> onnx.ModelProto:
    """Returns a QDQ model, which ONNX Runtime runs as QLinearConv.

    `keep`: parts of the names of further layers that stay fp32.
    """
    kept = {p.key: p.value for p in model.metadata_props}
    batches = list(calibration)
    with tempfile.TemporaryDirectory() as folder:
        prepared, result = Path(folder) / "prepared.onnx", Path(folder) / "int8.onnx"
        onnx.save(model, prepared)
        quant_pre_process(str(prepared), str(prepared), skip_optimization=True, skip_symbolic_shape=True)
        graph = onnx.load(prepared)
        store_constants(graph)
        onnx.save(graph, prepared)
        layers = [n for n in graph.graph.node if n.op_type in _LAYERS]
        excluded = [n.name for n in layers if any(part in n.name for part in keep)]
        excluded += [n.name for n in graph.graph.node if n.op_type == "MatMul" and not _is_layer(n)]
        excluded += [n.name for n in layers if is_copy(n)]
        quantize_static(
            str(prepared),
            str(result),
            _Calibration(batches, value_planes),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=[*_LAYERS, "MatMul", "Relu"],  # a ReLU after a layer disappears into its output range
            nodes_to_exclude=[*excluded, *find_logit_layers(graph), *_find_small_layers(graph), *_find_delicate(graph)],
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
            extra_options={
                "TensorQuantOverrides": _describe_plane_levels(graph) | _describe_products(graph),
                "OpTypesToExcludeOutputQuantization": ["MatMul"],
            },
        )
        quantised = onnx.load(result)
    _bypass_rounding(quantised)
    move_bytes(quantised)
    merge_policy(quantised)
    declare_batch(quantised)
    _narrow_ranges(quantised, model, take_evenly(batches, _NARROWING_POSITIONS), value_planes)
    check_pair_sums(quantised)
    del quantised.metadata_props[:]  # the quantiser leaves notes and a name of its own
    quantised.producer_name, quantised.producer_version = model.producer_name, model.producer_version
    set_metadata(quantised, kept | {PRECISION_KEY: "int8"})
    onnx.checker.check_model(quantised)
    return quantised


def take_evenly(batches: list[Batch], positions: int) -> list[Batch]:
    """Every k-th of equal minibatches, as few as hold so many positions; all of them if they hold less."""
    return batches[:: max(1, sum(batch.size for batch in batches) // positions)]


def store_constants(model: onnx.ModelProto) -> None:
    """Constant nodes become initializers: the quantiser rounds no others for good."""
    for node in [n for n in model.graph.node if n.op_type == "Constant"]:
        tensor = node.attribute[0].t
        tensor.name = node.output[0]
        model.graph.initializer.append(tensor)
        model.graph.node.remove(node)


def _describe_plane_levels(model: onnx.ModelProto) -> dict[str, list[dict[str, Any]]]:
    """Ranges of the first convolutions' inputs and weights, in the quantiser's words; scaled planes lie in [0, 1]."""
    overrides: dict[str, list[dict[str, Any]]] = {}
    for node in model.graph.node:
        if reads_planes(model, node):
            scale = np.array(1 / PLANE_LEVELS, np.float32)
            overrides[node.input[0]] = [{"scale": scale, "zero_point": np.array(0, np.uint8)}]
            overrides[node.input[1]] = [
                {"axis": 0, "quant_type": QuantType.QInt8, "symmetric": True, "reduce_range": False}
            ]
    return overrides


def _describe_products(model: onnx.ModelProto) -> dict[str, list[dict[str, Any]]]:
    """Learned matrices of a product get one range for all: ONNX Runtime knows no others. Small whole numbers get the
    scale 1 and stay exact: men, how many stand between two squares, who sees whom."""
    weights = {tensor.name for tensor in model.graph.initializer}
    learned = {"quant_type": QuantType.QInt8, "symmetric": True, "reduce_range": True}
    whole: dict[str, Any] = {"scale": np.array(1, np.float32), "zero_point": np.array(0, np.uint8)}
    overrides: dict[str, list[dict[str, Any]]] = {}
    for node in model.graph.node:
        if _is_counting(node):
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
    """Whether it is of a kind that gets rounded: a convolution, a dense layer, a product between squares."""
    return (node.op_type in _LAYERS and not is_copy(node)) or _is_mixing(node) or _is_counting(node)


def reads_planes(model: onnx.ModelProto, node: onnx.NodeProto) -> bool:
    """Whether it is a convolution of the planes themselves, raw, scaled or rounded, with board features behind them or not."""
    maker = {name: made for made in model.graph.node for name in made.output}
    source = node.input[0] if node.op_type == "Conv" else ""
    while source in maker and maker[source].op_type in ("Mul", "Concat", "QuantizeLinear", "DequantizeLinear"):
        source = maker[source].input[0]
    return source == INPUT_NAME


def _bypass_rounding(model: onnx.ModelProto) -> None:
    """Only quantised layers read rounded values: skip connections and other heads get the exact ones back, in place.

    The quantiser rounds a tensor for all its readers. A layer's own output stays rounded: its kernel makes it so, and a
    ReLU behind it has become part of that rounding.
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


def _narrow_ranges(
    quantised: onnx.ModelProto, exact: onnx.ModelProto, batches: list[Batch], value_planes: torch.Tensor
) -> None:
    """In place, of what no layer reads: the share of the ranges with which policy and value differ least from the exact
    network's. What layers read stays, because their rounded biases hang on its scale."""
    free = _find_free_scales(quantised)
    if not free:
        return
    wanted = list(_run(exact, batches, value_planes))

    def measure() -> float:
        return _measure_difference(wanted, _run(quantised, batches, value_planes))

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
    """Scales of what layers give to skip connections, gates and products."""
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


def _run(
    model: onnx.ModelProto, batches: Iterable[Batch], value_planes: torch.Tensor
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Of each minibatch the logarithms of its legal moves' probabilities, and the value head's output."""
    session = create_session(model)
    for batch in batches:
        planes = expand_planes(batch.masks, batch.values, value_planes).numpy()
        policy, value = (torch.from_numpy(output) for output in session.run(None, {INPUT_NAME: planes})[:2])
        yield mask_illegal(policy, batch.legal).log_softmax(1), value


def _measure_difference(
    wanted: Iterable[tuple[torch.Tensor, torch.Tensor]], given: Iterable[tuple[torch.Tensor, torch.Tensor]]
) -> float:
    """Mean KL divergence of the policies plus mean absolute difference of the values."""
    differences = [
        float((p.exp() * (p - q)).sum(1).mean() + (value - other).abs().mean())
        for (p, value), (q, other) in zip(wanted, given, strict=True)
    ]
    return sum(differences) / len(differences)


def _find_weights(
    model: onnx.ModelProto, maker: dict[str, onnx.NodeProto], node: onnx.NodeProto
) -> onnx.TensorProto | None:
    """The rounded weights of a quantised layer; None for any other node."""
    rounding = maker.get(node.input[1]) if _is_layer(node) else None
    if rounding is None or rounding.op_type != "DequantizeLinear":
        return None
    return next((w for w in model.graph.initializer if w.name == rounding.input[0]), None)


def check_pair_sums(model: onnx.ModelProto) -> None:
    """Raises ValueError when two products could leave 16 bits, as CPUs without VNNI would clip their sum."""
    maker = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        weights = _find_weights(model, maker, node)
        if weights is None:
            continue
        levels = PLANE_LEVELS if reads_planes(model, node) else _ACTIVATION_LEVELS
        largest = 2 * levels * int(np.abs(onnx.numpy_helper.to_array(weights).astype(int)).max())
        if largest > _LARGEST_PAIR_SUM:
            raise ValueError(f"{node.name}: two of its products can reach {largest}, more than {_LARGEST_PAIR_SUM}")


def _find_small_layers(model: onnx.ModelProto) -> list[str]:
    """Dense layers that read something smaller than a whole board: rounding them costs more than it gives."""
    flat = {name for node in model.graph.node if node.op_type == "Flatten" for name in node.output}
    return [n.name for n in model.graph.node if n.op_type == "Gemm" and n.input[0] not in flat]


def _find_delicate(model: onnx.ModelProto) -> list[str]:
    """First convolutions that see one square only, and convolutions that read what a gate has multiplied."""
    sizes = {tensor.name: list(tensor.dims[2:]) for tensor in model.graph.initializer}
    convolutions = [n for n in model.graph.node if n.op_type == "Conv"]
    products = {name for node in model.graph.node if node.op_type == "Mul" for name in node.output}
    gated = [n.name for n in convolutions if n.input[0] in products and not reads_planes(model, n)]
    return gated + [n.name for n in convolutions if reads_planes(model, n) and sizes[n.input[1]] == [1, 1]]


def find_logit_layers(model: onnx.ModelProto) -> list[str]:
    """Convolutions and dense layers from which the policy output follows without another one between."""
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
