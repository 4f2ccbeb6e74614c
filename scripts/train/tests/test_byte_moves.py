import numpy as np
from onnx import TensorProto, helper, numpy_helper
from sardonyx_train.export.passes import move_bytes
from sardonyx_train.export.verify import create_session

ROUNDING = {"scale": np.float32(0.5), "zero": np.uint8(3), "other_scale": np.float32(0.25), "one": np.float32(1), "none": np.uint8(0)}


def _model(nodes, inputs, outputs, constants):
    kinds = {"x": TensorProto.FLOAT, "seen": TensorProto.BOOL}
    graph = helper.make_graph(
        [helper.make_node(kind, read, written, f"{kind}:{written[0]}", **attributes) for kind, read, written, attributes in nodes],
        "moves",
        [helper.make_tensor_value_info(name, kinds[name], shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in {**ROUNDING, **constants}.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_what_moves_keeps_its_bytes_and_is_rounded_once():
    model = _model(
        [
            ("QuantizeLinear", ["x", "scale", "zero"], ["q"], {}),
            ("DequantizeLinear", ["q", "scale", "zero"], ["exact"], {}),
            ("Split", ["exact"], ["first", "second"], {"axis": 1}),
            ("Reshape", ["second", "shape"], ["square"], {}),
            ("Transpose", ["square"], ["turned"], {"perm": [0, 2, 1]}),
            ("QuantizeLinear", ["turned", "other_scale", "zero"], ["again"], {}),
            ("DequantizeLinear", ["again", "other_scale", "zero"], ["layer_input"], {}),
            ("MatMul", ["layer_input", "layer_input"], ["product"], {}),
            ("Relu", ["first"], ["positive"], {}),
        ],
        {"x": [2, 8]},
        ["product", "positive"],
        {"shape": np.array([-1, 2, 2])},
    )
    x = np.array([[-1.4, -0.2, 0.3, 1.1, 2.0, 3.3, 4.9, 90], [0, 1, 2, 3, 4, 5, 6, 7]], np.float32)
    move_bytes(model)
    rounded = np.clip(np.rint(x / 0.5), -3, 252) * 0.5
    square = rounded[:, 4:].reshape(2, 2, 2).transpose(0, 2, 1)
    product, positive = create_session(model).run(None, {"x": x})
    assert np.array_equal(positive, np.maximum(rounded[:, :4], 0)) and np.array_equal(product, square @ square)
    assert [n.op_type for n in model.graph.node].count("QuantizeLinear") == 1
    made_exact = {name for n in model.graph.node if n.op_type == "DequantizeLinear" for name in n.output}
    assert not any(made_exact & set(n.input) for n in model.graph.node if n.op_type in ("Split", "Reshape", "Transpose"))


def test_truth_values_become_bytes_at_once():
    model = _model(
        [
            ("And", ["seen", "mask"], ["both"], {}),
            ("Cast", ["both"], ["number"], {"to": TensorProto.FLOAT}),
            ("QuantizeLinear", ["number", "one", "none"], ["q"], {}),
            ("DequantizeLinear", ["q", "one", "none"], ["exact"], {}),
            ("Neg", ["exact"], ["y"], {}),
        ],
        {"seen": [4]},
        ["y"],
        {"mask": np.array([True, True, False, False])},
    )
    move_bytes(model)
    assert [n.op_type for n in model.graph.node] == ["And", "Cast", "DequantizeLinear", "Neg"]
    (y,) = create_session(model).run(None, {"seen": np.array([True, False, True, False])})
    assert y.tolist() == [-1, 0, 0, 0]
