/**
 * A reason not to start that whoever starts the server can mend: `message` is one line that says what is wrong and
 * what to do. It is shown without a stack.
 */
export class StartupError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
    this.code = code;
  }
}
