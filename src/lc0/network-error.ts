/**
 * Thrown inside this room if a file cannot be turned into a network. The message is one clear sentence without the file's
 * name. The doors of the room catch it and return a failed result. Any other exception is a bug and is not caught.
 */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}
