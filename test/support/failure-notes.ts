// Collects diagnostics for failed tests, such as the last log lines of a program. hooks.ts prints the diagnostics.
import { inspect } from 'node:util';

const NOTE_CHARACTERS = 4_000;

interface Note {
  readonly what: string;
  readonly tell: () => string | Promise<string>;
  ended: boolean;
}

const notes = new Map<object, Note>();

/** Registers a note until `removeNote(owner)`. */
export function noteOnFailure(owner: object, what: string, tell: Note['tell']): void {
  notes.set(owner, { what, tell, ended: false });
}

/** Removes a note after the current test, whose own hooks run before ours. */
export function removeNote(owner: object): void {
  const note = notes.get(owner);
  if (note) note.ended = true;
}

/** Drops the removed notes at the end of a test. */
export function dropRemovedNotes(): void {
  for (const [owner, { ended }] of notes) if (ended) notes.delete(owner);
}

/** The chain of causes as text. Mocha omits `cause` in parallel mode. */
export function causeOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? '' : `Caused by: ${inspect(cause)}\n`;
}

/** The ends of all registered notes. */
export async function failureNotes(): Promise<string> {
  const texts = [...notes.values()].map(async ({ what, tell }) => {
    const text = await Promise.resolve()
      .then(tell)
      .catch((error: unknown) => `(${String(error)})`);
    return `The end of ${what}:\n${text.slice(-NOTE_CHARACTERS).trimEnd()}\n`;
  });
  return (await Promise.all(texts)).join('');
}
