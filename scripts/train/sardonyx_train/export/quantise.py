"""fp32 ONNX → int8, for CPUs: static quantisation, calibrated on shards.

Only convolutions are quantised: weights per output channel, activations by their smallest and largest value over the
calibration positions (percentile clipping measured ten times worse). What stays fp32: squeeze-excitation arithmetic and
attention (slower and less exact in int8), the dense layers of the heads, and the convolutions that make policy logits
(thirty times worse). Weights use 7 bits, so that sums cannot overflow the 16-bit steps of CPUs without VNNI.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from ..data.batch import Batch
from ..data.planes import expand_planes
from .graph import INPUT_NAME, POLICY_NAME, set_metadata


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

    `keep`: parts of the names of further convolutions that stay fp32; `stem` alone took two thirds of the policy error
    away in a 64x6 SE network.
    """
    kept = {p.key: p.value for p in model.metadata_props}
    with tempfile.TemporaryDirectory() as folder:
        prepared, result = Path(folder) / "prepared.onnx", Path(folder) / "int8.onnx"
        onnx.save(model, prepared)
        quant_pre_process(str(prepared), str(prepared), skip_optimization=True, skip_symbolic_shape=True)
        graph = onnx.load(prepared)
        kept_names = [n.name for n in graph.graph.node if n.op_type == "Conv" and any(part in n.name for part in keep)]
        excluded = [*kept_names, *find_logit_convolutions(graph)]
        quantize_static(
            str(prepared),
            str(result),
            _Calibration(calibration, value_planes),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv", "Relu"],  # a ReLU after a convolution disappears into its output range
            nodes_to_exclude=excluded,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
        )
        quantised = onnx.load(result)
    _bypass_rounding(quantised)
    set_metadata(quantised, kept)
    onnx.checker.check_model(quantised)
    return quantised


def _bypass_rounding(model: onnx.ModelProto) -> None:
    """Only convolutions read rounded values: skip connections and heads get the exact ones back, in place.

    The quantiser rounds a tensor for all its readers. A convolution's own output stays rounded, as its kernel makes it.
    """
    maker = {name: node for node in model.graph.node for name in node.output}
    exact: dict[str, str] = {}
    for node in model.graph.node:
        rounding = maker.get(node.input[0]) if node.op_type == "DequantizeLinear" else None
        if rounding is None or rounding.op_type != "QuantizeLinear":
            continue
        source = maker.get(rounding.input[0])
        if source is not None and source.op_type != "Conv":
            exact[node.output[0]] = rounding.input[0]
    for node in model.graph.node:
        if node.op_type != "Conv":
            for i, name in enumerate(node.input):
                node.input[i] = exact.get(name, name)


def find_logit_convolutions(model: onnx.ModelProto) -> list[str]:
    """Convolutions from which the policy output follows without another convolution or dense layer between."""
    maker = {name: node for node in model.graph.node for name in node.output}
    found: list[str] = []
    pending = [POLICY_NAME]
    while pending:
        node = maker.get(pending.pop())
        if node is None or node.op_type in ("Gemm", "MatMul"):
            continue
        if node.op_type == "Conv":
            found.append(node.name)
        else:
            pending.extend(node.input)
    return found
