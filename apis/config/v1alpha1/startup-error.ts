/**
 * A reason not to start that the operator can correct. `message` is one line with the cause and the cure; it is printed
 * without a stack.
 */
export class StartupError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
    this.code = code;
  }
}
