import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { newBadRequest, newInvalid, newUnsupportedMediaType } from '../../apis/meta/v1/errors.ts';
import type { StatusCause } from '../../apis/meta/v1/status.ts';
import { segmentsOf } from '../../apis/reading/json-pointer.ts';
import { TRUSTED_SCHEMA } from '../../apis/reading/trusted-schema.ts';
import { recordIn, text } from '../../apis/reading/unknown-value.ts';
import { readBody } from '../request/request-body.ts';
import type { RequestContext } from '../request/request-context.ts';

const MAX_BYTES = 64 * 1024;
/** A document that is nothing but faults must not make an answer many times its size. */
const MAX_FAULTS = 40;
/** Of names that the caller has made up: those of fields, and of what is to be made. */
const MAX_ECHO = 200;

/** Reads bodies of one kind: JSON that fits a schema. */
export class DocumentReader<Schema extends TSchema> {
  readonly #kind: string;
  readonly #group: string;
  readonly #schema: Schema;
  #compiled: ValidateFunction<Static<Schema>> | undefined;

  constructor(kind: string, group: string, schema: Schema) {
    this.#kind = kind;
    this.#group = group;
    this.#schema = schema;
  }

  /**
   * Throws Invalid with its faults at once; none repeats a value that may be secret. `name` is that of the path; what is
   * made has it in the body.
   */
  async read({ request }: RequestContext, name?: string): Promise<Static<Schema>> {
    const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json')
      throw newUnsupportedMediaType('the body must be of type application/json');
    const body = await readBody(request, MAX_BYTES);
    const document = parse(body);
    const validate = (this.#compiled ??= compile(this.#schema));
    if (validate(document)) return document;
    throw this.invalid(
      name ?? text(recordIn(document, 'metadata')['name']).slice(0, MAX_ECHO),
      distinct((validate.errors ?? []).map(causeOf)),
    );
  }

  invalid(name: string, causes: readonly StatusCause[]): Error {
    const told = causes.slice(0, MAX_FAULTS);
    const faults = told.map(({ field, message }) => `${field}: ${message}`);
    if (causes.length > told.length) faults.push(`and ${causes.length - told.length} more`);
    const said = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`;
    return newInvalid(`${this.#kind}.${this.#group} "${name}" is invalid: ${said}`, told, {
      group: this.#group,
      kind: this.#kind,
      name,
    });
  }
}

function compile<Schema extends TSchema>(schema: Schema): ValidateFunction<Static<Schema>> {
  const ajv = new Ajv2020({ ...TRUSTED_SCHEMA, allErrors: true, verbose: true });
  ajv.addVocabulary(['expects']);
  // Times are never read from what clients send.
  ajv.addFormat('date-time', true);
  return ajv.compile<Static<Schema>>(schema);
}

export function invalidValue(field: string, message: string): StatusCause {
  return { reason: 'FieldValueInvalid', field, message };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw newBadRequest('the body is not JSON in UTF-8');
  }
}

function causeOf({ keyword, instancePath, params, parentSchema, message }: ErrorObject): StatusCause {
  const path = segmentsOf(instancePath);
  if (keyword === 'required') {
    const field = fieldOf([...path, String(params['missingProperty'])]);
    return { reason: 'FieldValueRequired', field, message: 'Required value' };
  }
  if (keyword === 'additionalProperties') {
    return invalidValue(fieldOf([...path, String(params['additionalProperty'])]), 'unknown field');
  }
  const expects: unknown = parentSchema?.['expects'];
  const wanted = typeof expects === 'string' ? `must be ${expects}` : (message ?? keyword);
  return invalidValue(fieldOf(path), wanted);
}

/** Two keywords may lead to the same sentence, as the length and the pattern of a name do. */
function distinct(causes: readonly StatusCause[]): StatusCause[] {
  return [...new Map(causes.map((cause) => [`${cause.field}\n${cause.message}`, cause])).values()];
}

/** As Kubernetes writes it: `spec.groups[0]`. */
function fieldOf(path: readonly string[]): string {
  const name = path.reduce((field, segment) => {
    if (/^\d+$/.test(segment)) return `${field}[${segment}]`;
    return field === '' ? segment : `${field}.${segment}`;
  }, '');
  return name.slice(0, MAX_ECHO);
}
