"""Exports a checkpoint to an ONNX file for the engine, in fp32, fp16 or int8, and verifies it against PyTorch."""

import os

# Must be set before ONNX Runtime is loaded, which otherwise collects usage data on Linux.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
