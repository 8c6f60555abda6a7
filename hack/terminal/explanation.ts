/** An error in one line for the person at the keyboard: what failed, and why. */
export function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error) || cause.message === '') return message;
  // The message already says what the system error means.
  return 'path' in cause ? message : `${message}: ${cause.message}`;
}
