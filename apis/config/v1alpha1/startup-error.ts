// StartupError: an error that the operator must correct before the server can start.
/**
 * The server cannot start. `message` is one line with the cause and what to change; it is printed without a stack.
 */
export class StartupError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
    this.code = code;
  }
}
