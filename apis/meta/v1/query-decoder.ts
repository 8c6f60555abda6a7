// Decoder of URL query parameters that a JSON Schema defines. One error lists all invalid parameters with the
// accepted values.
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TObject } from 'typebox';
import { parseBoolean } from '../../reading/go-number.ts';
import { listedValues } from '../../reading/listed-values.ts';
import { pathOf, quoted, type Wording } from '../../reading/schema-error.ts';
import { compileSchema, type Formats } from '../../reading/schema-validator.ts';
import { newBadRequest } from './errors.ts';
import type { StatusCause } from './status.ts';
import { ValidationCauses } from './validation-causes.ts';

/** Cache-busting parameters of browsers and consoles; ignored. */
export const CACHE_BUSTERS = ['_', 't'] as const;

type Parameter = Readonly<Record<string, unknown>>;

interface QueryRules<Query> {
  /** Names of ignored parameters, in addition to the cache-busting parameters. */
  readonly ignored?: readonly string[];
  /** Formats, by their name in the schema. */
  readonly formats?: Formats;
  /** Returns a specific message that follows an invalid value; undefined for the default message. */
  readonly words?: (parameter: string, value: unknown) => string | undefined;
  /** Accepted values by their names in other systems, for each parameter. They are suggested for such a name. */
  readonly otherValues?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Accepted parameters by their names in other systems. */
  readonly otherParameters?: Readonly<Record<string, string>>;
  /** Returns validation errors that concern several parameters. */
  readonly contradictions?: (query: Query, names: ParameterNames) => readonly StatusCause[];
}

export interface ParameterNames {
  /** Names of parameters with a valid value. */
  readonly given: ReadonlySet<string>;
  /**
   * Names of invalid parameters. The query does not contain them, and errors that follow from this are not reported.
   */
  readonly refused: ReadonlySet<string>;
}

export class QueryDecoder<Schema extends TObject> {
  readonly #parameters: ReadonlyMap<string, Parameter>;
  readonly #schema: Schema;
  readonly #rules: QueryRules<Static<Schema>>;
  readonly #wording: Wording;
  readonly #ignored: ReadonlySet<string>;
  #compiled: ValidateFunction<Static<Schema>> | undefined;

  /** `schema` has `additionalProperties: false`, so that it rejects unknown parameters. */
  constructor(schema: Schema, rules: QueryRules<Static<Schema>> = {}) {
    const { formats = {}, otherValues = {}, otherParameters = {}, ignored = [] } = rules;
    this.#schema = schema;
    this.#rules = rules;
    this.#wording = {
      unknown: 'unknown parameter',
      quotesValues: true,
      formats,
      otherValues,
      otherNames: otherParameters,
    };
    this.#ignored = new Set([...CACHE_BUSTERS, ...ignored]);
    this.#parameters = new Map(
      Object.keys(schema.properties).map((name) => [name, { ...schema.properties[name] }]),
    );
  }

  /**
   * Decodes a query. Throws BadRequest with up to 40 validation errors as causes. A parameter without a value is
   * ignored, except for a list that can be empty. Commas without a value are no empty parameter: ignoring a filter that
   * a client meant to set would return too much.
   */
  decode(query: URLSearchParams): Static<Schema> {
    const values = new Map<string, unknown>();
    const refused = new Set<string>();
    const repetitions: StatusCause[] = [];
    for (const [name, { value: text, times }] of occurrencesOf(query)) {
      if (this.#ignored.has(name)) continue;
      const parameter = this.#parameters.get(name);
      if (parameter && times > 1) {
        repetitions.push(repeated(name, times, parameter));
        refused.add(name);
      } else {
        const value = parameter ? typed(text, parameter) : text;
        if (value !== undefined) values.set(name, value);
      }
    }
    const names = new Set(values.keys());
    const given: Record<string, unknown> = Object.fromEntries(values);
    const checked: unknown = given;
    const validate = (this.#compiled ??= compileSchema(this.#schema, this.#rules.formats));
    const isValid = validate(checked);
    const errors = isValid ? [] : (validate.errors ?? []).map(ofParameter);
    // Continues without the invalid parameters, so that all errors are reported together.
    for (const error of errors) {
      const [name = String(error.params['additionalProperty'])] = pathOf(error);
      refused.add(name);
      names.delete(name);
      delete given[name];
    }
    const { contradictions } = this.#rules;
    const combined =
      isValid || validate(checked) ? (contradictions?.(checked, { given: names, refused }) ?? []) : [];
    if (isValid && repetitions.length === 0 && combined.length === 0) return checked;
    throw this.#rejection(repetitions, errors, combined);
  }

  #rejection(
    repetitions: readonly StatusCause[],
    errors: readonly ErrorObject[],
    combined: readonly StatusCause[],
  ): Error {
    const explain = (name: string, value: unknown): string | undefined => {
      const specific = this.#rules.words?.(name, value);
      return specific === undefined ? undefined : `${quoted(value)} ${specific}`;
    };
    const found = new ValidationCauses().add(...repetitions).addErrors(errors, this.#wording, explain);
    const { causes } = found.add(...combined);
    return newBadRequest(`the query is not valid: ${found.texts().join('; ')}`, causes);
  }
}

/** An error in a list is an error of its parameter. */
function ofParameter(error: ErrorObject): ErrorObject {
  return { ...error, instancePath: error.instancePath.split('/').slice(0, 2).join('/') };
}

interface Occurrence {
  readonly value: string;
  times: number;
}

/** Groups the values by name in one pass, because URLSearchParams searches all parameters for each name. */
function occurrencesOf(query: URLSearchParams): ReadonlyMap<string, Occurrence> {
  const occurrences = new Map<string, Occurrence>();
  for (const [name, value] of query) {
    const earlier = occurrences.get(name);
    if (earlier) earlier.times++;
    else occurrences.set(name, { value, times: 1 });
  }
  return occurrences;
}

/** Converts text to the type of the schema. Text that cannot be converted is returned, and the schema rejects it. */
function typed(text: string, parameter: Parameter): unknown {
  const { type, minItems } = parameter;
  if (text === '' && type === 'array' && minItems === undefined) return [];
  if (text === '') return undefined;
  if (type === 'array') return listedValues(text, parameter);
  if (type === 'integer' && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  return type === 'boolean' ? (parseBoolean(text) ?? text) : text;
}

function repeated(name: string, times: number, { type }: Parameter): StatusCause {
  const wanted =
    type === 'array' ? 'but once is enough, with commas between the values' : 'but has one value';
  return {
    reason: 'FieldValueDuplicate',
    message: `is given ${times} times, ${wanted}`,
    field: name,
  };
}
