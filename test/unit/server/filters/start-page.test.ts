// Tests of the filter that redirects browsers from the address of the server to the account page.
import { expect } from 'chai';
import { ask, chainEach } from './chain-fixture.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('the start page', () => {
  const start = chainEach();
  const withPage = () =>
    start({ handler: ({ response }) => void response.end('ok'), startPage: () => '/account' });

  it('is for browsers that open /, before any authentication', async () => {
    const chain = await withPage();
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask(chain, '/', { method, headers: BROWSER });
      expect([status, headers.location, headers['cache-control']]).to.deep.equal([
        303,
        '/account',
        'no-store',
      ]);
    }
    expect(chain.lines.map(({ path, status }) => [path, status])).to.deep.include(['/', 303]);
  });

  it('is not for programs, other methods and other paths', async () => {
    const chain = await withPage();
    for (const [path, options] of [
      ['/', {}],
      ['/', { headers: { accept: '*/*' } }],
      ['/', { headers: { accept: 'application/json, text/html;q=0' } }],
      ['/', { method: 'POST', headers: BROWSER }],
      ['/metrics', { headers: BROWSER }],
      ['/apis/apps/v1', { headers: BROWSER }],
    ] as const) {
      expect((await ask(chain, path, options)).status, path).to.not.equal(303);
    }
  });

  it('does not exist without the authorization server', async () => {
    const chain = await start({ handler: ({ response }) => void response.end('ok') });
    expect((await ask(chain, '/', { headers: BROWSER })).status).to.equal(403);
  });
});
