// Tests of the parser of form bodies and scopes.
import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/errors.ts';
import { parseForm, readForm, requestedScopes } from '../../../../../server/oauth/http/form.ts';
import { OAuthEndpoint } from '../../../../support/oauth/oauth-endpoint.ts';

function form(text: string): Record<string, string> {
  return Object.fromEntries(parseForm(Buffer.from(text, 'latin1')));
}

describe('parseForm', () => {
  it('decodes names and values as UTF-8, with plus signs as spaces', () => {
    expect(form('a=b+c&%61%20b=%C3%A9%2B')).to.deep.equal({ a: 'b c', 'a b': 'é+' });
    expect(form(Buffer.from('a=é').toString('latin1'))).to.deep.equal({ a: 'é' });
    expect(form('password=a=b==')).to.deep.equal({ password: 'a=b==' });
    expect(form('\xef\xbb\xbfa=1'), 'a byte order mark').to.deep.equal({ '\ufeffa': '1' });
    expect(form('a=&b&&c=1'), 'parameters without a value').to.deep.equal({ c: '1' });
    expect([...parseForm(Buffer.from('a[]=1&__proto__=3')).keys()]).to.deep.equal(['a[]', '__proto__']);
    const most = Array.from({ length: 100 }, (_, index) => `p${index}=1`).join('&');
    expect(parseForm(Buffer.from(most)).size).to.equal(100);
  });

  for (const [what, text] of [
    ['a repeated parameter', 'a=1&a=2'],
    ['a parameter repeated with another spelling', 'a=1&%61=2'],
    ['a parameter repeated without a value', 'a=1&a='],
    ['a parameter repeated behind one without a value', 'a=&a=1'],
    ['a lone percent sign', 'a=%'],
    ['a percent sign without two digits', 'a=%g1'],
    ['an escape that is no UTF-8', 'a=%ff'],
    ['an overlong escape', 'a=%c0%80'],
    ['half a surrogate pair', 'a=%ed%a0%80'],
    ['bytes that are no UTF-8', 'a=\xff'],
    ['an escaped NUL', 'a=b%00c'],
    ['a NUL', 'a=b\0c'],
    ['more than 100 parameters', Array.from({ length: 101 }, (_, index) => `p${index}=1`).join('&')],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(() => form(text))
        .to.throw(OAuthError)
        .that.includes({ status: 400, code: 'invalid_request' });
    });
  }
});

describe('readForm', () => {
  const endpoint = new OAuthEndpoint(async ({ request, response }) => {
    response.end(JSON.stringify(Object.fromEntries(await readForm(request))));
  });
  before(() => endpoint.start());
  after(() => endpoint.close());

  const FORM = 'application/x-www-form-urlencoded';
  const post = (type: string, body = 'a=1', headers = {}) =>
    endpoint.ask('POST', '?b=2', { 'content-type': type, ...headers }, body);

  it('accepts a form in UTF-8 only, without Content-Encoding, and ignores the URL', async () => {
    for (const type of [FORM, FORM.toUpperCase(), `${FORM}; charset=UTF-8`, `${FORM};charset="utf-8"`]) {
      expect(await post(type), type).to.include({ status: 200, body: '{"a":"1"}' });
    }
    for (const type of [
      'application/json',
      'multipart/form-data; boundary=x',
      `${FORM}; charset=latin1`,
      `${FORM}x`,
      '',
    ]) {
      expect((await post(type)).status, type).to.equal(415);
    }
    expect((await post(FORM, 'a=1', { 'content-encoding': 'gzip' })).status).to.equal(415);
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
    expect(requestedScopes('email openid email', allowed)).to.deep.equal(['email', 'openid']);
    expect(requestedScopes('openid offline_access email', allowed)).to.deep.equal(['openid', 'email']);
    const offline = ['openid', 'offline_access'];
    expect(requestedScopes('openid offline_access', offline)).to.deep.equal(offline);
  });

  const malformed = ['openid  email', ' openid', 'open"id', 'é', 'openid '.repeat(200).trim()];
  for (const scope of ['admin', 'email offline_access', 'openid groups', 'OPENID', ...malformed]) {
    it(`rejects ${JSON.stringify(scope.slice(0, 20))}`, () => {
      expect(() => requestedScopes(scope, allowed))
        .to.throw(OAuthError)
        .with.property('code', 'invalid_scope');
    });
  }
});
