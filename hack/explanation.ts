/** An error in one line for the person at the keyboard: what failed, and why. */
export function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error) || cause.message === '') return message;
  // What the system says of a file, the message has told in words.
  return 'path' in cause ? message : `${message}: ${cause.message}`;
}
