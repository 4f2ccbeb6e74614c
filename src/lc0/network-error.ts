/**
 * Thrown inside this room when a file cannot be turned into a network, with one clear sentence without the file's
 * name; the doors catch it and return it as a failed result. Anything else thrown here is a bug and is not caught.
 */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}
