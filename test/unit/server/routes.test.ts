// Tests of the router.
import { expect } from 'chai';
import type { Handler } from '../../../server/request/request-context.ts';
import { routes } from '../../../server/routes.ts';
import { ask, type ChainFixture, NODES, startChain } from './filters/chain-fixture.ts';

const says =
  (text: string): Handler =>
  ({ response }) =>
    void response.end(text);

describe('routes', () => {
  let server: ChainFixture;

  before(async () => {
    server = await startChain({
      handler: routes({
        resources: [
          {
            prefix: 'apis',
            group: 'resources.platform.io',
            version: 'v1alpha3',
            resource: 'nodes',
            handler: says('nodes'),
          },
          ...['nodes', '*'].map((resource) => ({
            prefix: 'kapis' as const,
            group: 'resources.platform.io',
            version: 'v1alpha3',
            resource,
            handler: says(resource),
          })),
        ],
        paths: new Map([
          ['/oauth/token', says('token')],
          ['/oauth/:name', says('something else')],
          ['/throws', () => Promise.reject(new Error('inside'))],
        ]),
      }),
    });
  });
  after(() => server.stop());

  const answer = async (path: string, method = 'GET'): Promise<unknown> => {
    const { status, body } = await ask(server, path, { method, headers: { 'test-user': 'alice' } });
    return status === 200 ? body : status;
  };

  it('find a resource by the RequestInfo that authorization uses', async () => {
    expect(await answer(`${NODES}/%6e1`)).to.equal('nodes');
    expect(await answer(`${NODES.replace('nodes', 'pods')}/x`)).to.equal(404);
  });

  it('find a path whatever its query, before one with a parameter', async () => {
    expect(await answer('/oauth/token')).to.equal('token');
    expect(await answer('/oauth/token?a=/oauth/keys')).to.equal('token');
    expect(await answer('/oauth/token', 'POST')).to.equal('token');
    expect(await answer('/oauth/keys')).to.equal('something else');
  });

  it('find no path that is written in another way', async () => {
    for (const path of ['/OAuth/token', '/oauth/token/', '/throw', '/throws/', '/Throws', '/%74hrows', '/']) {
      expect(await answer(path), path).to.equal(404);
    }
  });

  it('keep the default headers of a response, for paths with parameters too', async () => {
    for (const path of ['/oauth/token', '/oauth/keys', `${NODES}/n1`]) {
      const { headers } = await ask(server, path, { headers: { 'test-user': 'alice' } });
      expect(headers, path).to.include.keys('audit-id', 'cache-control');
    }
  });
});
