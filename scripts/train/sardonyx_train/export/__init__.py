"""Checkpoint → ONNX file that the engine recognises, in fp32, fp16 or int8, verified against PyTorch."""
