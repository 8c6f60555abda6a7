// What helps to understand a failed test and is gone soon after it: the end of a server's log, what a program has
// printed. Whoever starts one says how to get it; hooks.ts tells it when a test fails, and the cause of its error, which
// mocha loses on the way from a worker.
import { inspect } from 'node:util';

const NOTE_CHARACTERS = 4_000;

interface Note {
  readonly what: string;
  readonly tell: () => string | Promise<string>;
  ended: boolean;
}

const notes = new Map<object, Note>();

/** From now on, until `forgetNote(owner)`. */
export function noteOnFailure(owner: object, what: string, tell: Note['tell']): void {
  notes.set(owner, { what, tell, ended: false });
}

/** Still told for the test of now, whose own hooks come before ours. */
export function forgetNote(owner: object): void {
  const note = notes.get(owner);
  if (note) note.ended = true;
}

/** A test is over, and its notes with it. */
export function dropForgotten(): void {
  for (const [owner, { ended }] of notes) if (ended) notes.delete(owner);
}

/** With the causes of that, and so on. */
export function causeOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? '' : `Caused by: ${inspect(cause)}\n`;
}

/** The end of everything that is noted. */
export async function failureNotes(): Promise<string> {
  const told = [...notes.values()].map(async ({ what, tell }) => {
    const text = await Promise.resolve()
      .then(tell)
      .catch((error: unknown) => `(${String(error)})`);
    return `The end of ${what}:\n${text.slice(-NOTE_CHARACTERS).trimEnd()}\n`;
  });
  return (await Promise.all(told)).join('');
}
