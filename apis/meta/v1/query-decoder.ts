// Decoder of URL query parameters that a JSON Schema defines. One error lists all invalid parameters with the
// accepted values.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TObject } from 'typebox';
import { listedValues } from '../../reading/listed-values.ts';
import { suggestion } from '../../reading/suggestion.ts';
import { messageOf } from '../../reading/thrown-value.ts';
import { TRUSTED_SCHEMA } from '../../reading/trusted-schema.ts';
import { isRecord } from '../../reading/unknown-value.ts';
import { newBadRequest } from './errors.ts';
import type { StatusCause } from './status.ts';

/** Cache-busting parameters of browsers and consoles; ignored. */
export const CACHE_BUSTERS = ['_', 't'] as const;

/** Maximum length of an offending value in an error. */
const MAX_QUOTED = 100;
/**
 * Maximum number of reported errors, so that a response is not much larger than its request. It is higher than the
 * number of parameters of every query.
 */
export const MAX_ERRORS = 40;

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

type Parameter = Readonly<Record<string, unknown>>;

/** A format of text values. Its parser throws an Error whose message completes "… is not a …: ". */
export interface QueryFormat {
  /** Noun with an article, for instance "a selector". */
  readonly noun: string;
  check(text: string): void;
}

export interface QueryRules<Query> {
  /** Names of ignored parameters, in addition to the cache-busting parameters. */
  readonly ignored?: readonly string[];
  /** Formats, by their name in the schema. */
  readonly formats?: Readonly<Record<string, QueryFormat>>;
  /** Returns a specific message that follows an invalid value; undefined for the default message. */
  readonly words?: (parameter: string, value: unknown) => string | undefined;
  /** Accepted values by their names in other systems, for each parameter. They are suggested for such a name. */
  readonly otherNames?: Readonly<Record<string, Readonly<Record<string, string>>>>;
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

/** A bounded collection of distinct validation errors. */
class QueryErrors {
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

export class QueryDecoder<Schema extends TObject> {
  readonly #parameters: ReadonlyMap<string, Parameter>;
  readonly #schema: Schema;
  readonly #rules: QueryRules<Static<Schema>>;
  readonly #ignored: ReadonlySet<string>;
  #compiled: ValidateFunction<Static<Schema>> | undefined;

  constructor(schema: Schema, rules: QueryRules<Static<Schema>> = {}) {
    this.#schema = schema;
    this.#rules = rules;
    this.#ignored = new Set([...CACHE_BUSTERS, ...(rules.ignored ?? [])]);
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
    const errors = new QueryErrors();
    const given: Record<string, unknown> = {};
    const refused = new Set<string>();
    for (const [name, { value: text, times }] of occurrencesOf(query)) {
      if (this.#ignored.has(name)) continue;
      const parameter = this.#parameters.get(name);
      if (!parameter) errors.add(name, () => this.#unknown(name));
      else if (times > 1) {
        errors.add(name, () => repeated(name, times, parameter));
        refused.add(name);
      } else {
        const value = typed(text, parameter);
        if (value !== undefined) given[name] = value;
      }
    }
    const names = new Set(Object.keys(given));
    const checked: unknown = given;
    const validate = (this.#compiled ??= compile(this.#schema, this.#rules.formats ?? {}));
    const isValid = validate(checked);
    if (!isValid) {
      for (const error of validate.errors ?? []) {
        const field = fieldOf(error);
        errors.add(`${field} ${error.keyword} ${quoted(error.data)}`, () => this.#explained(error));
        // Continues without the parameter, so that all errors are reported together.
        refused.add(field);
        names.delete(field);
        delete given[field];
      }
    }
    if (isValid || validate(checked)) {
      for (const cause of this.#rules.contradictions?.(checked, { given: names, refused }) ?? []) {
        errors.add(`${cause.field} ${cause.message}`, () => cause);
      }
      if (errors.causes.length === 0) return checked;
    }
    throw newBadRequest(`the query is not valid: ${errors.text()}`, errors.causes);
  }

  #unknown(name: string): StatusCause {
    const known = [...this.#parameters.keys()];
    const message = `unknown parameter${acceptedNames(name, known, this.#rules.otherParameters)}`;
    return { reason: 'FieldValueNotSupported', message, field: shortened(name) };
  }

  #explained(error: ErrorObject): StatusCause {
    const field = fieldOf(error);
    const own = this.#rules.words?.(field, error.data);
    if (own !== undefined) {
      return { reason: 'FieldValueInvalid', message: `${quoted(error.data)} ${own}`, field };
    }
    const choices: unknown = error.params['allowedValues'];
    if (Array.isArray(choices)) {
      const { [field]: otherNames = {} } = this.#rules.otherNames ?? {};
      const hint = acceptedNames(String(error.data), choices.map(String), otherNames);
      const message = `${quoted(error.data)} is not supported${hint}`;
      return { reason: 'FieldValueNotSupported', message, field };
    }
    return { reason: 'FieldValueInvalid', message: `${quoted(error.data)} ${this.#wanted(error)}`, field };
  }

  #wanted(error: ErrorObject): string {
    const schema: unknown = error.parentSchema;
    const { minimum, maximum }: Parameter = isRecord(schema) ? schema : {};
    switch (error.keyword) {
      case 'type':
        if (error.params['type'] === 'boolean') return 'is neither true nor false';
        return `is not a whole number from ${String(minimum)} to ${String(maximum)}`;
      case 'minimum':
      case 'maximum':
        return `is not from ${String(minimum)} to ${String(maximum)}`;
      case 'minLength':
        return 'is empty';
      case 'maxLength':
        return `has more than ${String(error.params['limit'])} characters`;
      case 'minItems':
        return 'has no value between its commas';
      case 'maxItems':
        return `has more than ${String(error.params['limit'])} values`;
      case 'format': {
        const format = this.#rules.formats?.[String(error.params['format'])];
        if (!format) return 'is not valid';
        return `is not ${format.noun}: ${errorOf(format, String(error.data)) ?? ''}`;
      }
      default:
        return error.message ?? 'is not valid';
    }
  }
}

function compile<Schema extends TObject>(
  schema: Schema,
  formats: Readonly<Record<string, QueryFormat>>,
): ValidateFunction<Static<Schema>> {
  const ajv = new Ajv2020({ ...TRUSTED_SCHEMA, allErrors: true, useDefaults: true, verbose: true });
  for (const [name, format] of Object.entries(formats)) {
    ajv.addFormat(name, (text: string) => errorOf(format, text) === undefined);
  }
  return ajv.compile<Static<Schema>>(schema);
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
  if (type === 'boolean' && TRUE.has(text)) return true;
  if (type === 'boolean' && FALSE.has(text)) return false;
  return text;
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

function fieldOf({ instancePath }: ErrorObject): string {
  return instancePath.split('/')[1] ?? '';
}

function errorOf(format: QueryFormat, text: string): string | undefined {
  try {
    format.check(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
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
