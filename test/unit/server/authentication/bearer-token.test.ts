// Tests of the bearer token in the headers of a request.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { isUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import { bearerToken } from '../../../../server/authentication/bearer-token.ts';

const PREFIX = 'base64url.bearer.authorization.k8s.io.';
const encoded = (token: string): string => PREFIX + Buffer.from(token).toString('base64url');
const WEBSOCKET = { upgrade: 'websocket', connection: 'Upgrade' };

/** The token; `rejected` after an Unauthorized error. */
function read(headers: Readonly<Record<string, string>>, switches = true): string | undefined {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  try {
    return bearerToken({ request, upgrade: switches ? {} : undefined });
  } catch (error) {
    if (isUnauthorized(error)) return 'rejected';
    throw error;
  }
}

const protocol = (value: string): string | undefined =>
  read({ ...WEBSOCKET, 'sec-websocket-protocol': value });

describe('bearerToken', () => {
  it('reads the header Authorization, or one subprotocol of a WebSocket', () => {
    expect(read({ authorization: 'Bearer a.b-c_d~e+f/g==' })).to.equal('a.b-c_d~e+f/g==');
    expect(read({ authorization: 'bEARER x' })).to.equal('x');
    for (const value of [`${encoded('x')}, v4`, `v4,\t${encoded('x')}`, `v4 , ${encoded('x')} , v5`]) {
      expect(protocol(value), value).to.equal('x');
    }
  });

  it('is undefined without credentials', () => {
    expect(read({})).to.equal(undefined);
    expect(protocol('v4, v5')).to.equal(undefined);
    expect(protocol('')).to.equal(undefined);
  });

  it('rejects every other spelling in Authorization', () => {
    const spaces = ['\xc2\xa0', '\xc2\x85', '\xe3\x80\x80', '\xa0', '\t', ' ', '\x0b'];
    const values = spaces.flatMap((space) => [`${space}Bearer x`, `Bearer x${space}`, `Bearer${space} x`]);
    for (const value of [...values, '', 'Bearer', 'Bearer ', 'x', 'Basic x', 'Bearer x y', 'Bearer x, y']) {
      expect(read({ authorization: value }), JSON.stringify(value)).to.equal('rejected');
    }
  });

  it('rejects every other spelling in subprotocols', () => {
    for (const value of [
      encoded('x'),
      `${encoded('x')}, ${encoded('y')}, v4`,
      `${PREFIX}, v4`,
      `${encoded('x')}=, v4`,
      `${encoded('x')}!, v4`,
      `${PREFIX}abcde, v4`,
      `${encoded('a b')}, v4`,
      `${encoded('\u00fc')}, v4`,
      `${PREFIX}_w, v4`,
      `${encoded('x').replace('base', 'Base')}, v4`,
      `${encoded('x').replace('k8s', 'K8S')}, v4`,
      `\xc2\xa0${encoded('x')}, v4`,
      `\xa0${encoded('x')}, v4`,
      `${encoded('x')}\xc2\xa0, v4`,
      `x${encoded('x')}, v4`,
    ]) {
      expect(protocol(value), JSON.stringify(value)).to.equal('rejected');
    }
  });

  it('reads subprotocols with many blanks in linear time', () => {
    const blanks = ' '.repeat(300_000);
    expect(protocol(`${encoded('x')}, v${blanks}4`)).to.equal('x');
    expect(protocol(`${blanks}${encoded('x')}${blanks}, v4`)).to.equal('x');
  });

  it('rejects a token in a subprotocol of a request that opens no WebSocket, and beside Authorization', () => {
    const protocols = { 'sec-websocket-protocol': `${encoded('x')}, v4` };
    expect(read(protocols)).to.equal('rejected');
    expect(read({ ...protocols, ...WEBSOCKET }, false)).to.equal('rejected');
    expect(read({ ...protocols, upgrade: 'SPDY/3.1' })).to.equal('rejected');
    for (const authorization of ['Bearer x', 'Basic x']) {
      expect(read({ ...protocols, ...WEBSOCKET, authorization })).to.equal('rejected');
    }
  });
});
