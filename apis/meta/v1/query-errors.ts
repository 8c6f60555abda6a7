// Collection and wording of the validation errors of a query, with suggestions.
import { suggestion } from '../../reading/suggestion.ts';
import type { StatusCause } from './status.ts';

/** Maximum length of an offending value in an error. */
const MAX_QUOTED = 100;
/**
 * Maximum number of reported errors, so that a response is not much larger than its request. It is higher than the
 * number of parameters of every query.
 */
const MAX_ERRORS = 40;

/** A bounded collection of distinct validation errors. */
export class QueryErrors {
  readonly causes: StatusCause[] = [];
  readonly #keys = new Set<string>();
  #more = 0;

  /** Adds an error. Errors with the same key are added once. `explain` is not called above the limit. */
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
 * Returns a text with a suggestion and the accepted names. `otherNames`: accepted names by their lower-case names in
 * other systems.
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
