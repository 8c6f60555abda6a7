// Tests of the parser of form bodies and scopes.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/errors.ts';
import { parseForm, readForm, requestedScopes } from '../../../../../server/oauth/http/form.ts';

function form(text: string): Record<string, string> {
  return Object.fromEntries(parseForm(Buffer.from(text, 'latin1')));
}

function refusal(text: string): unknown {
  try {
    form(text);
    return undefined;
  } catch (error) {
    return error instanceof OAuthError ? [error.status, error.code] : error;
  }
}

describe('parseForm', () => {
  it('decodes names and values as UTF-8, with plus signs as spaces', () => {
    expect(form('a=b+c&%61%20b=%C3%A9%2B')).to.deep.equal({ a: 'b c', 'a b': 'é+' });
    expect(form(Buffer.from('a=é').toString('latin1'))).to.deep.equal({ a: 'é' });
  });

  it('splits at the first equals sign', () => {
    expect(form('password=a=b==')).to.deep.equal({ password: 'a=b==' });
  });

  it('keeps a byte order mark in the name', () => {
    expect(form('\xef\xbb\xbfa=1')).to.deep.equal({ '\ufeffa': '1' });
  });

  it('treats a parameter without a value as absent', () => {
    expect(form('a=&b&&c=1')).to.deep.equal({ c: '1' });
  });

  it('handles brackets and inherited names as plain names', () => {
    expect([...parseForm(Buffer.from('a[]=1&a[b]=2&__proto__=3'))]).to.deep.equal([
      ['a[]', '1'],
      ['a[b]', '2'],
      ['__proto__', '3'],
    ]);
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
    it(`rejects ${what}`, () => expect(refusal(text)).to.deep.equal([400, 'invalid_request']));
  }

  it('accepts 100 parameters', () => {
    const text = Array.from({ length: 100 }, (_, index) => `p${index}=1`).join('&');
    expect(parseForm(Buffer.from(text)).size).to.equal(100);
  });
});

describe('readForm', () => {
  const server = createServer((incoming, response) => {
    readForm(incoming).then(
      (found) => response.end(JSON.stringify(Object.fromEntries(found))),
      (error: unknown) => {
        response.writeHead(error instanceof OAuthError ? error.status : 599, { connection: 'close' }).end();
      },
    );
  });
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  async function post(headers: Record<string, string>, body: string, path = '/'): Promise<[number, string]> {
    const { port } = server.address() as AddressInfo;
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', path, headers, agent: false });
    outgoing.on('error', () => undefined);
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    return [incoming.statusCode ?? 0, text];
  }
  const FORM = 'application/x-www-form-urlencoded';

  for (const type of [
    FORM,
    'Application/X-WWW-Form-Urlencoded',
    `${FORM}; charset=UTF-8`,
    `${FORM};charset="utf-8"`,
  ]) {
    it(`accepts the media type ${type}`, async () => {
      expect(await post({ 'content-type': type }, 'a=1')).to.deep.equal([200, '{"a":"1"}']);
    });
  }

  for (const type of [
    'application/json',
    'multipart/form-data; boundary=x',
    `${FORM}; charset=latin1`,
    `${FORM}x`,
  ]) {
    it(`returns 415 for the media type ${type}`, async () => {
      expect((await post({ 'content-type': type }, 'a=1'))[0]).to.equal(415);
    });
  }

  it('returns 415 for a body without media type', async () => {
    expect((await post({}, 'a=1'))[0]).to.equal(415);
  });

  it('returns 415 for a body with Content-Encoding', async () => {
    expect((await post({ 'content-type': FORM, 'content-encoding': 'gzip' }, 'a=1'))[0]).to.equal(415);
  });

  it('ignores the URL', async () => {
    expect(await post({ 'content-type': FORM }, 'a=1', '/?b=2')).to.deep.equal([200, '{"a":"1"}']);
  });

  it('accepts 64 KiB and returns 413 for one byte more, with and without Content-Length', async () => {
    const most = `a=${'x'.repeat(64 * 1024 - 2)}`;
    expect((await post({ 'content-type': FORM }, most))[0]).to.equal(200);
    expect((await post({ 'content-type': FORM }, `${most}x`))[0]).to.equal(413);
    const chunked = { 'content-type': FORM, 'transfer-encoding': 'chunked' };
    expect((await post(chunked, `${most}x`))[0]).to.equal(413);
  });
});

describe('requestedScopes', () => {
  const allowed = ['openid', 'email'];

  it('returns no scopes without a parameter', () => {
    expect(requestedScopes(undefined, allowed)).to.deep.equal([]);
  });

  it('removes duplicates and keeps the order', () => {
    expect(requestedScopes('email openid email', allowed)).to.deep.equal(['email', 'openid']);
  });

  it('ignores unknown scopes beside openid', () => {
    expect(requestedScopes('openid offline_access email', allowed)).to.deep.equal(['openid', 'email']);
    expect(requestedScopes('openid offline_access', [...allowed, 'offline_access'])).to.deep.equal([
      'openid',
      'offline_access',
    ]);
  });

  for (const scope of [
    'admin',
    'email offline_access',
    'openid groups',
    'openid  email',
    ' openid',
    'OPENID',
    'open"id',
    'é',
    '__proto__',
  ]) {
    it(`rejects ${JSON.stringify(scope)}`, () => {
      expect(() => requestedScopes(scope, allowed))
        .to.throw(OAuthError)
        .with.property('code', 'invalid_scope');
    });
  }

  it('rejects a very long scope', () => {
    expect(() => requestedScopes('openid '.repeat(200).trim(), allowed)).to.throw(OAuthError);
  });
});
