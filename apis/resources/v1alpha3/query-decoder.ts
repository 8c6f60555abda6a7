// From a query string to a checked value, by the schema of its parameters. All faults are told at once, each with
// what is allowed instead.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TObject } from 'typebox';
import { newBadRequest } from '../../meta/v1/errors.ts';
import { parseFieldSelector } from '../../meta/v1/field-selector.ts';
import { parseLabelSelector } from '../../meta/v1/label-selector.ts';
import type { StatusCause } from '../../meta/v1/status.ts';
import { suggestion } from '../../meta/v1/suggestion.ts';
import { CACHE_BUSTERS, NODE_FIELDS } from './node-query.ts';

/** Each requirement is tried on every node. */
const MAX_REQUIREMENTS = 1000;
/** A fault repeats what was given; this much of it is enough to find it. */
const MAX_ECHO = 100;

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

type Parameter = Readonly<Record<string, unknown>>;

/** Throws an Error that says what is wrong with the selector. */
const FORMATS: Readonly<Record<string, (text: string) => void>> = {
  'label-selector': (text) => few(parseLabelSelector(text).requirements.length),
  'field-selector': (text) => {
    const requirements = parseFieldSelector(text);
    few(requirements.length);
    for (const { field } of requirements) {
      if (NODE_FIELDS.some((known) => known === field)) continue;
      throw new Error(`unknown field ${quoted(field)}${instead(field, NODE_FIELDS)}`);
    }
  },
};

export class QueryDecoder<Schema extends TObject> {
  readonly #parameters: ReadonlyMap<string, Parameter>;
  readonly #validate: ValidateFunction<Static<Schema>>;

  constructor(schema: Schema) {
    const ajv = new Ajv2020({ allErrors: true, useDefaults: true, verbose: true });
    for (const [format, parse] of Object.entries(FORMATS)) {
      ajv.addFormat(format, (text: string) => faultOf(parse, text) === undefined);
    }
    this.#parameters = new Map(
      Object.keys(schema.properties).map((name) => [name, { ...schema.properties[name] }]),
    );
    this.#validate = ajv.compile<Static<Schema>>(schema);
  }

  /** Throws BadRequest with every fault as a cause. A parameter without a value counts as not given, except a list that may be empty. */
  decode(query: URLSearchParams): Static<Schema> {
    const faults: StatusCause[] = [];
    const given: Record<string, unknown> = {};
    for (const name of new Set(query.keys())) {
      if (CACHE_BUSTERS.some((known) => known === name)) continue;
      const parameter = this.#parameters.get(name);
      const values = query.getAll(name);
      if (!parameter) faults.push(this.#unknown(name));
      else if (values.length > 1) faults.push(repeated(name, values.length));
      else {
        const value = typed(values[0] ?? '', parameter);
        if (value !== undefined) given[name] = value;
      }
    }
    const checked: unknown = given;
    if (this.#validate(checked) && faults.length === 0) return checked;
    for (const error of this.#validate.errors ?? []) faults.push(explained(error));
    const texts = faults.map(({ field, message }) => `${field}: ${message}`);
    throw newBadRequest(`the query is not valid: ${texts.join('; ')}`, faults);
  }

  #unknown(name: string): StatusCause {
    const known = [...this.#parameters.keys()];
    const message = `unknown parameter${instead(name, known)}`;
    return { reason: 'FieldValueNotSupported', message, field: name.slice(0, MAX_ECHO) };
  }
}

/** What the schema's type makes of the text; what it can not read stays text, for the schema to refuse. */
function typed(text: string, { type, minItems }: Parameter): unknown {
  if (text === '' && type === 'array' && minItems === undefined) return [];
  if (text === '') return undefined;
  if (type === 'array') return text.split(',');
  if (type === 'integer' && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && TRUE.has(text)) return true;
  if (type === 'boolean' && FALSE.has(text)) return false;
  return text;
}

function repeated(name: string, times: number): StatusCause {
  return {
    reason: 'FieldValueDuplicate',
    message: `is given ${times} times, but has one value`,
    field: name,
  };
}

function explained(error: ErrorObject): StatusCause {
  const field = error.instancePath.split('/')[1] ?? '';
  const choices: unknown = error.params['allowedValues'];
  if (Array.isArray(choices)) {
    const hint = instead(String(error.data), choices.map(String));
    const message = `${quoted(error.data)} is not supported${hint}`;
    return { reason: 'FieldValueNotSupported', message, field };
  }
  return { reason: 'FieldValueInvalid', message: `${quoted(error.data)} ${wanted(error)}`, field };
}

function wanted(error: ErrorObject): string {
  const schema: unknown = error.parentSchema;
  const { minimum, maximum }: Parameter = isRecord(schema) ? schema : {};
  switch (error.keyword) {
    case 'type':
      if (error.params['type'] === 'boolean') return 'is neither true nor false';
      return `is not a whole number from ${String(minimum)} to ${String(maximum)}`;
    case 'minimum':
    case 'maximum':
      return `is not from ${String(minimum)} to ${String(maximum)}`;
    case 'format': {
      const parse = FORMATS[String(error.params['format'])];
      return `is not a selector: ${(parse && faultOf(parse, String(error.data))) ?? ''}`;
    }
    default:
      return error.message ?? 'is not valid';
  }
}

function instead(mistyped: string, known: readonly string[]): string {
  const meant = suggestion(mistyped.slice(0, MAX_ECHO), known);
  const guess = meant === undefined ? '' : `, did you mean ${quoted(meant)}?`;
  return `${guess} (allowed: ${known.length === 0 ? 'none' : known.join(', ')})`;
}

function few(requirements: number): void {
  if (requirements > MAX_REQUIREMENTS) throw new Error(`it has more than ${MAX_REQUIREMENTS} requirements`);
}

function faultOf(parse: (text: string) => void, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value);
  return JSON.stringify(text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text);
}

function isRecord(value: unknown): value is Parameter {
  return typeof value === 'object' && value !== null;
}
