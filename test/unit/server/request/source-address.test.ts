// Tests of the client IP address of requests.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { sourceAddress, tlsCheck } from '../../../../server/request/source-address.ts';
import { heapInUse } from '../../../support/oauth/heap-in-use.ts';

function from(peer: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return request;
}

describe('sourceAddress', () => {
  it('ignores entries before those of trusted proxies', () => {
    const source = sourceAddress(['192.0.2.0/24', '203.0.113.5']);
    expect(source(from('192.0.2.1', '1.1.1.1, 198.51.100.7, 203.0.113.5'))).to.equal('198.51.100.7');
    expect(source(from('192.0.2.1', '198.51.100.7'))).to.equal('198.51.100.7');
    expect(source(from('192.0.2.1', 'unknown')), 'no address').to.equal('192.0.2.1');
    expect(sourceAddress([])(from('192.0.2.1', '198.51.100.7')), 'no trusted proxy').to.equal('192.0.2.1');
    expect(sourceAddress([])(from('::ffff:192.0.2.1')), 'an IPv4-mapped address').to.equal('192.0.2.1');
  });

  for (const [entry, address] of [
    ['198.51.100.7:4711', '198.51.100.7'],
    ['"198.51.100.7:4711"', '198.51.100.7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['"[2001:db8::7]"', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['[::ffff:198.51.100.7]:80', '198.51.100.7'],
    ['\t198.51.100.7 ', '198.51.100.7'],
    ['198.51.100.7, 192.0.2.9:443', '198.51.100.7'],
    ['198.51.100.7, [::ffff:192.0.2.9]:443', '198.51.100.7'],
    ['198.51.100.7, unknown', '192.0.2.1'],
    ['198.51.100.7, _hidden', '192.0.2.1'],
    ['198.51.100.7, "_hidden:_port"', '192.0.2.1'],
    ['198.51.100.7,', '192.0.2.1'],
    ['198.51.100.7.1:80', '192.0.2.1'],
    ['[198.51.100.7]:80', '192.0.2.1'],
    ['198.51.100.7 198.51.100.8', '192.0.2.1'],
  ] as const) {
    it(`reads ${JSON.stringify(entry)} as ${address}`, () => {
      expect(sourceAddress(['192.0.2.0/24'])(from('192.0.2.1', entry))).to.equal(address);
    });
  }

  it('does not keep the rest of the header in memory', () => {
    const source = sourceAddress(['192.0.2.1']);
    const before = heapInUse();
    const remembered = Array.from({ length: 200 }, (_, i) => {
      const junk = Buffer.alloc(64_000, 'x').toString('latin1');
      return source(from('192.0.2.1', `${junk}, 198.51.100.${100 + (i % 100)}`));
    });
    expect(heapInUse() - before).to.be.below(4_000_000);
    expect(remembered).to.have.length(200);
  });
});

describe('tlsCheck', () => {
  const TWO = '198.51.100.7, 192.0.2.2';
  /** `trusted`: whether the proxies 192.0.2.1 (nearest) and 192.0.2.2 are trusted. */
  const cases: readonly (readonly [string, string | undefined, Record<string, string>, boolean])[] = [
    ['192.0.2.1', undefined, { 'x-forwarded-proto': 'https' }, true],
    ['192.0.2.1', undefined, { 'x-forwarded-proto': '"HTTPS"' }, true],
    ['192.0.2.1', undefined, { 'x-forwarded-proto': 'https,' }, true],
    ['192.0.2.1', undefined, { 'x-forwarded-proto': '' }, false],
    ['192.0.2.1', undefined, { 'x-forwarded-proto': 'https, http' }, false],
    ['192.0.2.1', undefined, { 'x-forwarded-proto': 'http, https' }, true],
    ['192.0.2.1', '198.51.100.7', { 'x-forwarded-proto': 'https, http' }, false],
    ['192.0.2.0/24', TWO, { 'x-forwarded-proto': 'https, https' }, true],
    ['192.0.2.0/24', TWO, { 'x-forwarded-proto': 'https, http' }, true],
    ['192.0.2.0/24', TWO, { 'x-forwarded-proto': 'https' }, true],
    ['192.0.2.0/24', TWO, { 'x-forwarded-proto': 'http' }, false],
    ['192.0.2.0/24', TWO, { 'x-forwarded-proto': 'http, https' }, false],
    ['192.0.2.0/24', TWO, { 'x-forwarded-proto': 'https, http, https' }, false],
    ['192.0.2.0/24', TWO, { forwarded: 'For=198.51.100.7; Proto=HTTPS, for=192.0.2.2;proto=http' }, true],
    ['192.0.2.0/24', TWO, { forwarded: 'for="_a,proto=https";proto=http, for=b;proto=https' }, false],
    ['192.0.2.0/24', TWO, { forwarded: 'for="x;proto=https", for=b' }, false],
    [
      '192.0.2.0/24',
      TWO,
      { forwarded: 'host="a\\";proto=https;x=\\"";proto=http, for=b;proto=https' },
      false,
    ],
    ['192.0.2.0/24', TWO, { forwarded: 'host="a;proto=https' }, false],
    // Proxies such as Spring Cloud Gateway append the scheme of their own connection.
    ['203.0.113.9', TWO, { 'x-forwarded-proto': 'https, http' }, true],
    ['203.0.113.9', TWO, { 'x-forwarded-proto': 'https,http,http' }, true],
    ['203.0.113.9', TWO, { 'x-forwarded-proto': 'http, https' }, false],
    ['203.0.113.9', TWO, { 'x-forwarded-proto': 'http' }, false],
    ['203.0.113.9', TWO, { forwarded: 'proto=https;host=gw, proto=http' }, true],
    ['203.0.113.9', TWO, { forwarded: 'proto=http, proto=https' }, false],
    ['203.0.113.9', TWO, { 'x-forwarded-proto': 'HTTPS, https' }, true],
    ['203.0.113.9', TWO, { 'x-forwarded-proto': 'httpsx' }, false],
  ];
  for (const [trusted, addresses, headers, expected] of cases) {
    it(`${expected ? 'accepts' : 'rejects'} ${JSON.stringify(headers)} behind ${addresses ?? 'one proxy'}, trusting ${trusted}`, () => {
      const request = from('192.0.2.1', addresses);
      Object.assign(request.headers, headers);
      expect(tlsCheck([trusted])({ request, secure: false })).to.equal(expected);
    });
  }

  it('lets only a trusted proxy say that the client of a TLS connection uses plain HTTP', () => {
    const request = from('192.0.2.1');
    expect(tlsCheck(['192.0.2.1'])({ request, secure: true })).to.equal(true);
    request.headers['x-forwarded-proto'] = 'http';
    expect(tlsCheck([])({ request, secure: true })).to.equal(true);
    expect(tlsCheck(['192.0.2.1'])({ request, secure: true })).to.equal(false);
  });
});
