// Tests of the parser of form bodies and scopes.
import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/oauth-error.ts';
import { Form, readForm, requestedScopes } from '../../../../../server/oauth/http/form.ts';
import { oauthErrors } from '../../../../../server/oauth/oauth-error-writer.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

/** Each byte of the form as a character. */
const form = (text: string): Form => new Form(text);

describe('Form', () => {
  it('decodes names and values as UTF-8, with plus signs as spaces', () => {
    for (const [text, expected] of [
      ['a=b+c&%61%20b=%C3%A9%2B', { a: 'b c', 'a b': 'é+' }],
      [Buffer.from('a=é').toString('latin1'), { a: 'é' }],
      ['a=b==', { a: 'b==' }],
      ['\xef\xbb\xbfa=1', { '\ufeffa': '1', a: undefined }],
      ['a=&b&&c=1&=2', { a: undefined, b: undefined, c: '1', constructor: undefined }],
      ['a[]=1&__proto__=3', { 'a[]': '1', ['__proto__']: '3' }],
      ['a=1;b=2&c=|{["\\^`<>', { a: '1;b=2', c: '|{["\\^`<>' }],
      [Array.from({ length: 100 }, (_, index) => `p${index}=1`).join('&'), { p99: '1' }],
    ] as const) {
      for (const [name, value] of Object.entries(expected)) {
        expect(form(text).get(name), `${name} in ${text}`).to.equal(value);
        expect(form(text).has(name), `${name} in ${text}`).to.equal(value !== undefined);
      }
    }
  });

  for (const text of ['a=1&a=2', 'a=1&%61=2', 'a=1&a=', 'a=&a=1', 'a=1&b=2&a=1']) {
    it(`rejects the repeated parameter of ${text} only when it is read`, () => {
      const repeated = form(`${text}&c=3`);
      expect(repeated.get('c')).to.equal('3');
      expect(() => repeated.get('a')).to.throw(OAuthError, 'the parameter a is repeated');
    });
  }

  for (const [what, value] of [
    ['a lone percent sign', '%'],
    ['a percent sign without two digits', '%g1'],
    ['an escape that is not UTF-8', '%ff'],
    ['an overlong escape', '%c0%80'],
    ['half a surrogate pair', '%ed%a0%80'],
    ['bytes that are not UTF-8', '\xff'],
    ['an escaped NUL', 'b%00c'],
    ['a NUL', 'b\0c'],
  ] as const) {
    it(`rejects a parameter with ${what} only when it is read, and names it`, () => {
      const malformed = form(`a=${value}&c=3&${value}=4&c${value}=5`);
      expect([malformed.get('c'), malformed.get('b'), malformed.getAll('a')]).to.deep.equal([
        '3',
        undefined,
        [],
      ]);
      expect(() => malformed.get('a'))
        .to.throw(
          OAuthError,
          'the parameter a is not UTF-8, or has a percent sign without two hexadecimal digits',
        )
        .that.includes({ status: 400, code: 'invalid_request' });
    });
  }

  it('rejects more than 100 parameters', () => {
    for (const name of ['p', '%zz']) {
      const many = Array.from({ length: 101 }, (_, index) => `${name}${index}=1`).join('&');
      expect(() => form(many)).to.throw(OAuthError, 'the request has more than 100 parameters');
    }
  });
});

describe('readForm', () => {
  const server = new HandlerServer(async (context) => {
    try {
      const form = await readForm(context.request);
      context.response.end(JSON.stringify({ a: form.get('a'), b: form.get('b') }));
    } catch (error) {
      oauthErrors.write(context, error);
    }
  });
  before(() => server.start());
  after(() => server.close());
  const ask = async (method: string, query: string, headers = {}, body?: string) => {
    const request = {
      method,
      headers: { connection: 'close', ...headers },
      ...(body === undefined ? {} : { body }),
    };
    const response = await fetch(`http://127.0.0.1:${server.port}/oauth/endpoint${query}`, request);
    return { status: response.status, body: await response.text() };
  };

  const FORM = 'application/x-www-form-urlencoded';
  const post = (type: string, body = 'a=1', headers = {}) =>
    ask('POST', '?b=2', { 'content-type': type, ...headers }, body);

  it('accepts a form with any parameters of its media type, without Content-Encoding, and ignores the URL', async () => {
    for (const type of [
      FORM,
      FORM.toUpperCase(),
      `${FORM}; charset=UTF-8`,
      `${FORM};charset="utf-8"`,
      `${FORM};`,
      `${FORM} ; `,
      `${FORM}; charset=utf-8;`,
      `${FORM};;Charset = utf8`,
      `${FORM}; boundary=x`,
      `${FORM}; charset=us-ascii`,
      `${FORM}; charset=ISO-8859-1`,
      `${FORM}; charset='utf-8'`,
    ]) {
      expect(await post(type), type).to.include({ status: 200, body: '{"a":"1"}' });
    }
    for (const type of [
      'application/json',
      'multipart/form-data; boundary=x',
      `${FORM}, application/json`,
      `${FORM}x`,
      '',
    ]) {
      expect((await post(type)).status, type).to.equal(415);
    }
    expect(await ask('POST', '?a=2'), 'no body').to.include({ status: 200, body: '{}' });
    for (const [encoding, status] of [
      ['identity', 200],
      ['Identity', 200],
      ['', 200],
      ['gzip', 415],
      ['identity, gzip', 415],
      ['utf-8', 415],
    ] as const) {
      expect((await post(FORM, 'a=1', { 'content-encoding': encoding })).status, encoding).to.equal(status);
    }
  });

  it('reads the query of a GET', async () => {
    expect(await ask('GET', '?a=1;2')).to.include({ status: 200, body: '{"a":"1;2"}' });
  });

  it('accepts 64 KiB and returns 413 for one byte more', async () => {
    const most = `a=${'x'.repeat(64 * 1024 - 2)}`;
    expect((await post(FORM, most)).status).to.equal(200);
    expect((await post(FORM, `${most}x`)).status).to.equal(413);
  });
});

describe('requestedScopes', () => {
  const allowed = ['openid', 'email'];

  it('keeps the order without duplicates, and ignores unknown scopes beside openid', () => {
    expect(requestedScopes(undefined, allowed)).to.deep.equal([]);
    for (const blank of ['', ' ', ' \t ']) expect(requestedScopes(blank, allowed)).to.deep.equal([]);
    expect(requestedScopes('\t openid  email\topenid ', allowed)).to.deep.equal(allowed);
    expect(requestedScopes('email openid email', allowed)).to.deep.equal(['email', 'openid']);
    expect(requestedScopes('openid offline_access email', allowed)).to.deep.equal(['openid', 'email']);
    const offline = ['openid', 'offline_access'];
    expect(requestedScopes('openid offline_access', offline)).to.deep.equal(offline);
  });

  for (const scope of ['admin', 'email offline_access', 'openid groups', 'OPENID']) {
    it(`rejects ${JSON.stringify(scope.slice(0, 20))}`, () => {
      expect(() => requestedScopes(scope, allowed))
        .to.throw(OAuthError, /^the scope is not allowed \(allowed: openid, email\)$/)
        .with.property('code', 'invalid_scope');
    });
  }
});
