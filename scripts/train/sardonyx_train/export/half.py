"""fp32 ONNX → fp16, for GPUs. Inputs and outputs stay fp32, so that the engine needs no conversion."""

from __future__ import annotations

import onnx
from onnxruntime.transformers.float16 import convert_float_to_float16
from onnxruntime.transformers.onnx_model import OnnxModel

from .graph import set_metadata


def convert_to_half(model: onnx.ModelProto) -> onnx.ModelProto:
    kept = {p.key: p.value for p in model.metadata_props}
    copy = onnx.ModelProto()
    copy.CopyFrom(model)  # the converter works in place
    half = convert_float_to_float16(copy, keep_io_types=True, disable_shape_infer=True)
    OnnxModel(half).topological_sort()  # the converter appends the casts of the inputs
    set_metadata(half, kept)
    onnx.checker.check_model(half)
    return half
