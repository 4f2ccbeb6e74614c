/** TensorProto.DataType, as far as needed here. Threads that only run a model load it without the reader of models (onnx-messages.ts). */
export const TensorType = {
  FLOAT: 1,
  UINT8: 2,
  INT8: 3,
  INT32: 6,
  INT64: 7,
  STRING: 8,
  BOOL: 9,
  FLOAT16: 10,
  BFLOAT16: 16,
} as const;
