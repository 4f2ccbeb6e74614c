"""Checkpoint → ONNX file that the engine recognises, in fp32, fp16 or int8, verified against PyTorch."""

import os

# ONNX Runtime for Linux collects usage data unless this is set before it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
