// Functions that return the message or the error code of a caught value.

/** Node adds a flag to errors of certificates, but the cure is a `caFile`, or the machine of the user. */
const FLAG_OF_NODE = /; if the root CA is installed locally, try running Node\.js with --use-system-ca$/;

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message.replace(FLAG_OF_NODE, '') : String(thrown);
}

/** The code of a Node error, such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
}

/** The message with that of its cause, for a person at a terminal. */
export function explanationOf(thrown: unknown): string {
  const message = messageOf(thrown);
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (!(cause instanceof Error) || cause.message === '') return message;
  // The message already contains the meaning of the system error.
  return 'path' in cause ? message : `${message}: ${cause.message}`;
}
