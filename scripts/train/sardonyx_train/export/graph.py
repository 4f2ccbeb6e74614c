"""Exports a network as an ONNX graph in fp32, with lc0's tensor names, any batch size and the engine's metadata.

The exporter folds batch norms into their convolutions. The scales of planes and the activation of the value head are in the
graph, so the engine feeds raw planes and reads probabilities.
"""

import io
import warnings
from dataclasses import dataclass

import onnx
import torch
from torch import nn

from ..config.encodings import POLICY_SIZES, get_input_encoding
from ..config.training_config import ModelConfig, TrainingConfig, read_saved
from ..model.network import Network, Outputs, drop_reply
from ..training.checkpoint import load_weights
from .passes import BATCH, copy_entries, declare_batch

INPUT_NAME = "/input/planes"
POLICY_NAME = "/output/policy"
WDL_NAME = "/output/wdl"
VALUE_NAME = "/output/value"
MOVES_LEFT_NAME = "/output/mlh"
INPUT_KEY = "sardonyx.input"
POLICY_KEY = "sardonyx.policy"
OPSET = 17
_IR_VERSION = 8


@dataclass(frozen=True)
class ModelCard:
    """Text that is written into the file's metadata."""

    name: str
    licence: str
    training: str  # one line: data, recipe, length


class ExportNetwork(nn.Module):
    """planes [N, P, 8, 8] → policy logits, value (WDL softmaxed or tanh), moves left in plies."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        outputs: Outputs = self.network(planes)
        value = outputs.value if self.network.scalar_value else outputs.value.softmax(1)
        heads = (outputs.policy, value, outputs.moves_left)
        return tuple(head for head in heads if head is not None)


def build_network(state: dict) -> tuple[Network, TrainingConfig]:
    """Returns the network with a checkpoint's averaged weights, without the head of replies, in evaluation mode, and its configuration."""
    config = read_saved(TrainingConfig, state["config"])
    network = Network(config.model)
    load_weights(network, drop_reply(state["average"]))
    return network.eval(), config


def output_shapes(config: ModelConfig) -> dict[str, int]:
    """Output name → numbers per position, in the graph's order."""
    shapes = {POLICY_NAME: POLICY_SIZES[config.policy]}
    shapes[VALUE_NAME if config.value == "scalar" else WDL_NAME] = 1 if config.value == "scalar" else 3
    if config.moves_left:
        shapes[MOVES_LEFT_NAME] = 1
    return shapes


def create_onnx(network: Network, config: ModelConfig, card: ModelCard) -> onnx.ModelProto:
    shapes = output_shapes(config)
    names = [INPUT_NAME, *shapes]
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # Deprecated, but twenty times as fast as its successor, and nodes have their modules' names (docs/dev/training-log.md).
        warnings.simplefilter("ignore")
        torch.onnx.export(
            ExportNetwork(network).eval(),
            (torch.zeros(2, get_input_encoding(config.input).planes, 8, 8),),
            buffer,
            input_names=names[:1],
            output_names=names[1:],
            dynamic_axes={name: {0: BATCH} for name in names},
            opset_version=OPSET,
            dynamo=False,
        )
    model = onnx.load_model_from_string(buffer.getvalue())
    for output in model.graph.output:
        dims = output.type.tensor_type.shape.dim
        del dims[:]
        dims.add().dim_param = BATCH
        dims.add().dim_value = shapes[output.name]
    copy_entries(model)
    declare_batch(model)
    model.ir_version = _IR_VERSION
    model.producer_name = "sardonyx"
    model.producer_version = ""
    metadata = {
        INPUT_KEY: config.input,
        POLICY_KEY: config.policy,
        "sardonyx.value": config.value,
        "sardonyx.value.activation": "tanh" if config.value == "scalar" else "softmax",
        "sardonyx.name": card.name,
        "sardonyx.body": f"{config.body} {config.filters}x{config.blocks}",
        "sardonyx.licence": card.licence,
        "sardonyx.training": card.training,
    }
    onnx.helper.set_model_props(model, metadata)
    onnx.checker.check_model(model)
    return model


def convert_to_half(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model in fp16, for GPUs. Inputs and outputs stay fp32, so the engine needs no conversion."""
    from onnxruntime.transformers.float16 import convert_float_to_float16
    from onnxruntime.transformers.onnx_model import OnnxModel

    copy = onnx.ModelProto()
    copy.CopyFrom(model)  # the converter works in place
    half = convert_float_to_float16(copy, keep_io_types=True, disable_shape_infer=True)
    OnnxModel(half).topological_sort()  # the converter adds the casts of the inputs at the end
    onnx.checker.check_model(half)
    return half
