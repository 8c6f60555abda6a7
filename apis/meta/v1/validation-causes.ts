// Validation errors as causes of a Status. Their number and the length of each one are bounded, so that a response is
// not much larger than its request.
import type { ErrorObject } from 'ajv/dist/2020.js';
import {
  describeError,
  fieldPath,
  quoted,
  type SchemaError,
  type Wording,
} from '../../reading/schema-error.ts';
import type { StatusCause } from './status.ts';

/** It is higher than the number of parameters of every query. */
export const MAX_CAUSES = 40;
/** Maximum length of a path that contains names of the request. */
const MAX_FIELD = 200;

const REASONS: Readonly<Record<SchemaError['problem'], string>> = {
  unknown: 'FieldValueNotSupported',
  missing: 'FieldValueRequired',
  unsupported: 'FieldValueNotSupported',
  invalid: 'FieldValueInvalid',
};

export class ValidationCauses {
  readonly causes: StatusCause[] = [];
  readonly #keys = new Set<string>();
  #more = 0;

  /** Adds distinct causes. */
  add(...causes: readonly StatusCause[]): this {
    for (const cause of causes) this.#add(`${cause.field} ${cause.message}`, () => cause);
    return this;
  }

  /** Adds one error of each value. `explain`: a specific message for a value; undefined for the default message. */
  addErrors(
    errors: readonly ErrorObject[],
    wording: Wording,
    explain: (field: string, value: unknown) => string | undefined = () => undefined,
  ): this {
    for (const error of errors) {
      const { instancePath, params } = error;
      const name = String(params['additionalProperty'] ?? params['missingProperty'] ?? '');
      const value = typeof error.data === 'object' ? '' : quoted(error.data);
      // The descriptions of errors above the limit would take longer than the validation.
      this.#add(`${instancePath} ${name} ${value}`, () => {
        const { path, problem, message } = describeError(error, wording);
        const field = fieldPath(path).slice(0, MAX_FIELD);
        const specific = problem === 'unknown' ? undefined : explain(field, error.data);
        return specific === undefined
          ? { reason: REASONS[problem], message, field }
          : invalidValue(field, specific);
      });
    }
    return this;
  }

  /** The causes in words, and the number of causes above the limit. */
  texts(): string[] {
    const texts = this.causes.map(({ field, message }) => `${field}: ${message}`);
    return this.#more === 0 ? texts : [...texts, `and ${this.#more} more`];
  }

  #add(key: string, explain: () => StatusCause): void {
    if (this.#keys.has(key)) return;
    if (this.causes.length === MAX_CAUSES) {
      this.#more++;
      return;
    }
    this.#keys.add(key);
    this.causes.push(explain());
  }
}

export function invalidValue(field: string, message: string): StatusCause {
  return { reason: 'FieldValueInvalid', field, message };
}
