// The engine's threads share memory: the page must be cross-origin isolated.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default { server: { headers }, preview: { headers } };
