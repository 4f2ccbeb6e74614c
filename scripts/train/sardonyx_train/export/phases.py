"""Joins networks for phases of the game to one (a mixture of experts chosen by the men on the board; Helfenstein et al. 2024,
arXiv 2401.16852). A call evaluates one of them, so it costs a call of one network; the engine puts positions of one phase into a call."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, compose, helper

from ..base.errors import TrainError
from .graph import INPUT_KEY, INPUT_NAME, POLICY_KEY
from .quantise import PRECISION_KEY

PHASES_KEY = "sardonyx.phases"
# Their first planes are those of the men, with ones.
_PLANES_OF_MEN = 12
_LARGE_BYTES = 1024
_ENCODINGS = ("lc0-112", "attacks-50")


def evaluate(session: onnxruntime.InferenceSession, planes: np.ndarray) -> list[np.ndarray]:
    """planes float32 [N, P, 8, 8] → the outputs, in the session's order. Positions of one phase go into a call, as in the engine."""
    men = [int(number) for number in session.get_modelmeta().custom_metadata_map.get(PHASES_KEY, "").split()]
    phase = (planes[:, :_PLANES_OF_MEN].sum((1, 2, 3))[:, None] < men).sum(1)
    parts = [np.flatnonzero(phase == number) for number in np.unique(phase)]
    answers = [session.run(None, {INPUT_NAME: planes[rows]}) for rows in parts]
    places = np.argsort(np.concatenate(parts))
    return [np.concatenate(outputs)[places] for outputs in zip(*answers, strict=True)]


def join_phases(models: list[onnx.ModelProto], men: list[int], name: str | None = None) -> onnx.ModelProto:
    """`men`: the fewest men of the positions that each network but the last evaluates, falling. The first row of a call decides for all."""
    first = models[0]
    cards = [{entry.key: entry.value for entry in model.metadata_props} for model in models]
    if len(men) != len(models) - 1 or any(a <= b for a, b in zip([33, *men], [*men, 2], strict=True)):
        raise TrainError(f"--men takes {len(models) - 1} falling numbers from 32 to 3 for {len(models)} networks")
    if cards[0].get(INPUT_KEY) not in _ENCODINGS:
        raise TrainError(f"only networks of {' and '.join(_ENCODINGS)} can be joined: others have no planes of men")
    for model, card in zip(models[1:], cards[1:], strict=True):
        if list(model.graph.output) != list(first.graph.output) or any(card.get(k) != cards[0].get(k) for k in (INPUT_KEY, POLICY_KEY)):
            raise TrainError("the networks have different inputs or outputs")
    tensors: list[onnx.TensorProto] = []

    def store(key: str, values: list[int] | float) -> str:
        kind = TensorProto.FLOAT if isinstance(values, float) else TensorProto.INT64
        shape = [] if isinstance(values, float) else [len(values)]
        tensors.append(helper.make_tensor(key, kind, shape, [values] if isinstance(values, float) else values))
        return key

    bounds = [store("men/from", [0, 0]), store("men/to", [1, _PLANES_OF_MEN]), store("men/axes", [0, 1])]
    nodes = [
        helper.make_node("Slice", [INPUT_NAME, *bounds], ["men/planes"]),
        helper.make_node("ReduceSum", ["men/planes"], ["men/count"], keepdims=0),
    ]
    nodes += [helper.make_node("Greater", ["men/count", store(f"men/{m}", m - 0.5)], [f"men/is {m}"]) for m in men]
    outputs = [output.name for output in first.graph.output]
    tables: dict[bytes, onnx.NodeProto] = {}
    graph = _take_body(models[-1], f"phase{len(men)}/", tensors, tables)
    for i in reversed(range(len(men))):
        branch = _take_body(models[i], f"phase{i}/", tensors, tables)
        results = outputs if i == 0 else [f"rest{i}/{output}" for output in outputs]
        choice = helper.make_node("If", [f"men/is {men[i]}"], results, then_branch=branch, else_branch=graph)
        if i == 0:
            nodes.append(choice)
        else:
            graph = helper.make_graph(
                [choice], f"rest{i}", [], [helper.make_value_info(f"rest{i}/{o.name}", o.type) for o in first.graph.output]
            )
    joined = helper.make_graph([*tables.values(), *nodes], "phases", list(first.graph.input), list(first.graph.output), tensors)
    model = helper.make_model(joined, opset_imports=first.opset_import, ir_version=first.ir_version, producer_name="sardonyx")
    training = "; ".join(card.get("sardonyx.training", "") for card in cards)
    own = {"sardonyx.name": name or cards[0].get("sardonyx.name", ""), "sardonyx.training": training, PHASES_KEY: " ".join(map(str, men))}
    helper.set_model_props(model, {**cards[0], **own})
    onnx.checker.check_model(model)
    return model


def _take_body(
    model: onnx.ModelProto, prefix: str, tensors: list[onnx.TensorProto], tables: dict[bytes, onnx.NodeProto]
) -> onnx.GraphProto:
    """A network's nodes as a branch; its weights go to `tensors` of the whole graph, where the engine looks for them, and large constants,
    which are the same in all networks of a form, to `tables`. Those of a network in 8 bits stay in the branch: the engine leaves them
    as they are, and ONNX Runtime gives a convolution its fast layout only where the weights are in its own graph."""
    graph = compose.add_prefix(model, prefix, rename_inputs=False).graph
    is_quantised = any(entry.key == PRECISION_KEY for entry in model.metadata_props)
    if not is_quantised:
        tensors.extend(graph.initializer)
    names: dict[str, str] = {}
    for node in [node for node in graph.node if node.op_type == "Constant" and node.ByteSize() > _LARGE_BYTES]:
        names[node.output[0]] = tables.setdefault(node.attribute[0].SerializeToString(), node).output[0]
    nodes = [node for node in graph.node if node.output[0] not in names]
    for node in nodes:
        node.input[:] = [names.get(name, name) for name in node.input]
    own = list(graph.initializer) if is_quantised else []
    return helper.make_graph(nodes, prefix.rstrip("/"), [], list(graph.output), own)
