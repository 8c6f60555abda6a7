// What is wrong with a query, in words that say what would be right.
import { suggestion } from '../../reading/suggestion.ts';
import type { StatusCause } from './status.ts';

/** A fault repeats what was given; this much of it is enough to find it. */
const MAX_ECHO = 100;
/** More than there are parameters; a query that is nothing but faults must not make an answer many times its size. */
const MAX_FAULTS = 40;

/** Each fault once, and not too many of them. */
export class QueryFaults {
  readonly causes: StatusCause[] = [];
  readonly #keys = new Set<string>();
  #more = 0;

  /** One of the same key counts once; `explain` is not called for those that are only counted. */
  add(key: string, explain: () => StatusCause): void {
    if (this.#keys.has(key)) return;
    if (this.causes.length === MAX_FAULTS) {
      this.#more++;
      return;
    }
    this.#keys.add(key);
    this.causes.push(explain());
  }

  text(): string {
    const texts = this.causes.map(({ field, message }) => `${field}: ${message}`);
    return `${texts.join('; ')}${this.#more === 0 ? '' : `; and ${this.#more} more`}`;
  }
}

/** What was most likely meant, and what there is. `otherNames`: known ones by what else they are called, in lower case. */
export function instead(
  mistyped: string,
  known: readonly string[],
  otherNames: Readonly<Record<string, string>> = {},
): string {
  const begin = shortened(mistyped);
  const other = begin.toLowerCase();
  const meant = Object.hasOwn(otherNames, other) ? otherNames[other] : suggestion(begin, known);
  const guess = meant === undefined ? '' : `, did you mean ${quoted(meant)}?`;
  return `${guess} (allowed: ${known.length === 0 ? 'none' : known.join(', ')})`;
}

/** So much of what was given that it is found. */
export function shortened(given: string): string {
  return given.slice(0, MAX_ECHO);
}

/** As a fault repeats it: quoted, and not too much of it. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value);
  return JSON.stringify(text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text);
}
