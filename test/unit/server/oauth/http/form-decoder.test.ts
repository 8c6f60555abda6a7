// Tests of the decoder of OAuth parameters.
import { expect } from 'chai';
import {
  AuthorizationDetailsSchema,
  GrantTypeFormSchema,
  PasswordFormSchema,
  ResponseTargetSchema,
} from '../../../../../apis/oauth/forms.ts';
import { OAuthError } from '../../../../../apis/oauth/oauth-error.ts';
import { Form } from '../../../../../server/oauth/http/form.ts';
import { FormDecoder } from '../../../../../server/oauth/http/form-decoder.ts';

const password = new FormDecoder(PasswordFormSchema);
const details = new FormDecoder(AuthorizationDetailsSchema);
const target = new FormDecoder(ResponseTargetSchema);

const form = (parameters: Readonly<Record<string, string>>): Form =>
  new Form(new URLSearchParams(parameters).toString());

/** `code: description` of the error. */
function refusal(decode: () => unknown): string {
  try {
    decode();
  } catch (error) {
    if (error instanceof OAuthError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('FormDecoder', () => {
  it('returns the parameters of the schema, and ignores all others', () => {
    const decoded = password.decode(form({ username: 'alice', password: 'x', scope: '', code: 'y' }));
    expect(decoded).to.deep.equal({ username: 'alice', password: 'x' });
    expect(details.decode(form({ response_type: ' code ' }))).to.deep.equal({ response_type: 'code' });
  });

  for (const [what, decode, expected] of [
    [
      'a missing parameter',
      () => password.decode(form({ username: 'alice' })),
      'invalid_request: password is missing',
    ],
    [
      'a missing parameter with its values',
      () => details.decode(form({})),
      'invalid_request: response_type is missing; must be code',
    ],
    [
      'a repeated parameter',
      () => password.decode(new Form('username=a&username=b&password=c')),
      'invalid_request: the parameter username is repeated',
    ],
    [
      'a parameter that is too long',
      () => target.decode(form({ client_id: 'a', redirect_uri: 'b', state: 'x'.repeat(4097) })),
      'invalid_request: state must be at most 4096 characters long',
    ],
    [
      'a parameter of another form',
      () => details.decode(form({ response_type: 'code', code_challenge: 'short' })),
      'invalid_request: code_challenge must be a SHA-256 in base64url',
    ],
    [
      'a response type',
      () => details.decode(form({ response_type: 'token' })),
      'unsupported_response_type: response_type must be code',
    ],
    [
      'a grant type',
      () => new FormDecoder(GrantTypeFormSchema).decode(form({ grant_type: 'magic' })),
      'unsupported_grant_type: grant_type must be one of password, refresh_token, authorization_code, urn:ietf:params:oauth:grant-type:device_code',
    ],
  ] as const) {
    it(`explains ${what} without its value`, () => {
      expect(refusal(decode)).to.equal(expected);
      // RFC 6749, 5.2.
      expect(expected).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    });
  }

  for (const scope of ['openid\u00a0email', 'open"id', 'open\\id', 'é', 'openid '.repeat(200).trim()]) {
    it(`rejects the scope ${JSON.stringify(scope.slice(0, 20))}`, () => {
      const decode = () => password.decode(form({ username: 'a', password: 'b', scope }));
      expect(refusal(decode)).to.match(/^invalid_scope: scope must be /);
    });
  }

  it('creates the errors that its caller chooses', () => {
    const refuse = (code: string, description: string) => new RangeError(`${code}, ${description}`);
    const twice = new Form('response_type=code&nonce=a&nonce=b');
    expect(() => details.decode(twice, refuse)).to.throw(RangeError, /^invalid_request, .* repeated$/);
    expect(() => details.decode(form({ response_type: 'x' }), refuse)).to.throw(RangeError, /^unsupported_/);
  });
});
