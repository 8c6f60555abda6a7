// Tests of the CORS filter.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { until } from '../../../support/until.ts';
import { type Ask, ask, type ChainFixture, chainEach, NODES } from './chain-fixture.ts';

const CONSOLE = 'https://console.example.com';
const OTHER = 'http://localhost:8080';
const ALLOWED = 'access-control-allow-origin';
const ok: Handler = ({ response }) => void response.end('ok');

describe('CORS', () => {
  const startChain = chainEach();
  const start = (options: Partial<Parameters<typeof startChain>[0]> = {}): Promise<ChainFixture> =>
    startChain({ handler: ok, allowedOrigins: [CONSOLE, OTHER], ...options });

  const from = (origin: string, headers: Record<string, string> = {}): Ask => ({
    headers: { 'test-user': 'alice', origin, ...headers },
  });

  const asking = (origin: string, method = 'GET'): Ask => ({
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,last-event-id',
    },
  });

  for (const origin of [CONSOLE, OTHER]) {
    it(`allows a page of ${origin} to read responses and their headers`, async () => {
      const { status, headers } = await ask(await start(), NODES, from(origin));
      expect(status).to.equal(200);
      expect(headers).to.include({ [ALLOWED]: origin, vary: 'Origin' });
      const exposed = ['Retry-After', 'ETag', 'Content-Disposition', 'Date', 'Audit-Id', 'Warning'];
      expect(headers['access-control-expose-headers']?.split(', ')).to.include.members(exposed);
    });
  }

  for (const origin of [
    'https://console.example.com.attacker.example',
    'https://console.example.com:8443',
    'http://console.example.com',
    'https://CONSOLE.example.com',
    'null',
    '',
  ]) {
    it(`returns no CORS headers for ${origin === '' ? 'an empty origin' : origin}`, async () => {
      const chain = await start();
      const { status, headers } = await ask(chain, NODES, from(origin));
      expect(status).to.equal(200);
      expect(headers).to.include({ vary: 'Origin' }).and.not.have.property(ALLOWED);
      expect(headers).not.to.have.property('access-control-expose-headers');
      expect((await ask(chain, NODES, asking(origin))).status).to.equal(403);
    });
  }

  it('never allows credentials of the browser', async () => {
    const chain = await start();
    for (const question of [from(CONSOLE), asking(CONSOLE)]) {
      const { headers } = await ask(chain, NODES, question);
      expect(headers).not.to.have.property('access-control-allow-credentials');
    }
  });

  for (const [what, path, user, handler, code] of [
    ['a caller without permissions', NODES, 'bob', ok, 403],
    ['a path with two readings', '/apis//x', 'alice', ok, 400],
    [
      'a store outage after the headers of the response were set',
      NODES,
      'alice',
      ({ response }) => {
        response.setHeader('Content-Encoding', 'gzip');
        response.setHeader('ETag', '"x"');
        throw newServiceUnavailable('down', 5);
      },
      503,
    ],
  ] as const satisfies readonly (readonly [string, string, string, Handler, number])[]) {
    it(`allows the page to read an error: ${what}`, async () => {
      const chain = await start({ handler });
      const { status, headers } = await ask(chain, path, from(CONSOLE, { 'test-user': user }));
      expect(status).to.equal(code);
      expect(headers).to.include({ [ALLOWED]: CONSOLE, vary: 'Origin' });
      expect(headers['access-control-expose-headers']).to.include('Retry-After');
      expect(headers).not.to.have.any.keys('content-encoding', 'etag');
    });
  }

  it('responds to a preflight request without authentication', async () => {
    let authenticated = 0;
    const authenticate = (): undefined => void authenticated++;
    const chain = await start({ authenticator: { name: 'test', authenticate } });
    const { status, headers, body } = await ask(chain, `${NODES}?watch=true`, asking(CONSOLE));
    expect({ status, body, authenticated }).to.deep.equal({ status: 204, body: '', authenticated: 0 });
    expect(headers).to.include({ [ALLOWED]: CONSOLE, vary: 'Origin', 'access-control-max-age': '7200' });
    expect(headers['access-control-allow-methods']?.split(', ')).to.include.members(['GET', 'PUT', 'DELETE']);
    const allowed = [
      'accept',
      'authorization',
      'content-type',
      'if-none-match',
      'last-event-id',
      'traceparent',
    ];
    expect(headers['access-control-allow-headers']?.toLowerCase().split(', ')).to.include.members(allowed);
  });

  it('records a preflight request neither as a resource request nor as a change', async () => {
    const chain = await start();
    await ask(chain, `${NODES}?watch=true`, asking(CONSOLE));
    await until(() => chain.lines.length > 0);
    expect(chain.lines[0]).to.include({ level: 20, verb: 'options', path: NODES, status: 204 });
    expect(chain.lines[0]).not.to.have.property('resource');
    // Also for an ambiguous path, so that the page can read the error.
    expect((await ask(chain, `${NODES}//`, asking(CONSOLE))).status).to.equal(204);
    expect(chain.audited).to.deep.equal([]);
    expect(chain.gauges.longRunning).to.equal(0);
    // Not a preflight request.
    expect((await ask(chain, NODES, { ...from(CONSOLE), method: 'OPTIONS' })).status).to.equal(200);
  });
});
