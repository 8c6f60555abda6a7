// Decoder of the parameters of an OAuth request, by the schema of its form in apis/oauth/forms.ts.
import type { IncomingMessage } from 'node:http';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TObject } from 'typebox';
import type { OAuthErrorCode } from '../../../apis/oauth/oauth-error.ts';
import { describeError } from '../../../apis/reading/schema-error.ts';
import { compileSchema } from '../../../apis/reading/schema-validator.ts';
import { badRequest, type Form, type Refuse, readForm } from './form.ts';

/** Codes of invalid values by parameter (RFC 6749, 4.1.2.1 and 5.2). All others have `invalid_request`. */
const CODES: ReadonlyMap<string, OAuthErrorCode> = new Map([
  ['grant_type', 'unsupported_grant_type'],
  ['response_type', 'unsupported_response_type'],
  ['scope', 'invalid_scope'],
]);

/** Descriptions contain no values: RFC 6749, 5.2 limits their characters, and a value can be a secret. */
const WORDING = { unknown: 'unknown parameter', quotesValues: false } as const;

export class FormDecoder<Schema extends TObject> {
  readonly #schema: Schema;
  /** Compiled for the first form. */
  #compiled: ValidateFunction<Static<Schema>> | undefined;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Decodes the query of a GET, or the body of a POST. Throws OAuthError. */
  async read(request: IncomingMessage): Promise<Static<Schema>> {
    return this.decode(await readForm(request));
  }

  /** Throws the error of one missing, repeated or invalid parameter. Ignores parameters that the schema does not have. */
  decode(form: Form, refuse: Refuse = badRequest): Static<Schema> {
    const values: Record<string, string> = {};
    for (const [name, schema] of Object.entries(this.#schema.properties)) {
      const value = form.get(name, refuse);
      // Some clients add blanks to a word.
      if (value !== undefined) values[name] = 'enum' in schema || 'const' in schema ? value.trim() : value;
    }
    const given: unknown = values;
    const validate = (this.#compiled ??= compileSchema(this.#schema));
    if (validate(given)) return given;
    const [error] = (validate.errors ?? []).map((each) => describeError(each, WORDING));
    const { path: [name = ''] = [], problem = 'invalid', message = 'is not valid' } = error ?? {};
    const code = problem === 'missing' ? undefined : CODES.get(name);
    throw refuse(code ?? 'invalid_request', `${name} ${message}`);
  }
}
