// Validation errors of a query, with suggestions.
import { suggestion } from '../../reading/suggestion.ts';
import type { StatusCause } from './status.ts';

/** Length at which an error truncates the offending value. */
const MAX_QUOTED = 100;
/**
 * Maximum number of reported errors; above the number of parameters, so that a response stays proportional to its
 * request.
 */
const MAX_ERRORS = 40;

/** A bounded collection of distinct validation errors. */
export class QueryErrors {
  readonly causes: StatusCause[] = [];
  readonly #keys = new Set<string>();
  #more = 0;

  /** Errors with the same key count once; `explain` is not called above the limit. */
  add(key: string, explain: () => StatusCause): void {
    if (this.#keys.has(key)) return;
    if (this.causes.length === MAX_ERRORS) {
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

/**
 * Returns a suggestion and the accepted names. `otherNames`: accepted names by their names in other systems, in lower
 * case.
 */
export function acceptedNames(
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

/** Truncates an offending value. */
export function shortened(given: string): string {
  return given.slice(0, MAX_QUOTED);
}

/** Quotes and truncates an offending value. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value);
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}
