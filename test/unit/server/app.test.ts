// Tests of the Express application: routing, and both ways of a request through the same filters.
import { expect } from 'chai';
import { endpoint, newRouter, readOnly } from '../../../server/http/endpoint.ts';
import type { Handler } from '../../../server/request/request-context.ts';
import { resourceRequests } from '../../../server/request/resource-route.ts';
import { onlyFeature } from '../../support/routed.ts';
import { ask, type ChainFixture, NODES, startChain } from './filters/chain-fixture.ts';

const says =
  (text: string): Handler =>
  ({ response }) =>
    void response.end(text);

const [DISCOVERY] = NODES.split('/nodes');

describe('the application', () => {
  let server: ChainFixture;

  before(async () => {
    const router = newRouter();
    const mounted = newRouter();
    mounted
      .route('/token')
      .post(endpoint(says('token')))
      .all(readOnly);
    mounted
      .route('/:name')
      .get(endpoint(says('something else')))
      .all(readOnly);
    router.use('/oauth', mounted);
    router.get(
      '/throws',
      endpoint(() => Promise.reject(new Error('inside'))),
    );
    router.get(String(DISCOVERY), endpoint(says('discovery')));
    const nodes = { group: 'resources.platform.io', version: 'v1alpha3' };
    server = await startChain({
      handler: says('unused'),
      routers: onlyFeature(router),
      resources: resourceRequests([
        { ...nodes, prefix: 'apis', resource: 'nodes', handler: says('nodes') },
        ...['nodes', '*'].map((resource) => ({
          ...nodes,
          prefix: 'kapis' as const,
          resource,
          handler: says(resource),
        })),
      ]),
    });
  });
  after(() => server.stop());

  const answer = async (path: string, method = 'GET'): Promise<unknown> => {
    const { status, body } = await ask(server, path, { method, headers: { 'test-user': 'alice' } });
    return status === 200 ? body : status;
  };

  it('finds a resource by the RequestInfo that authorization uses, however its path is encoded', async () => {
    expect(await answer(`${NODES}/%6e1`)).to.equal('nodes');
    expect(await answer(`${NODES.replace('/apis', '/%61pis')}/n1`)).to.equal('nodes');
    expect(await answer(`${NODES.replace('nodes', 'pods')}/x`)).to.equal(404);
  });

  it('finds a path beside the resources, and below a mounted router, whatever its query', async () => {
    expect(await answer(String(DISCOVERY))).to.equal('discovery');
    expect(await answer('/apis/unknown')).to.equal(404);
    expect(await answer('/oauth/token', 'POST')).to.equal('token');
    expect(await answer('/oauth/token?a=/oauth/keys', 'POST')).to.equal('token');
    expect(await answer('/oauth/keys')).to.equal('something else');
  });

  it('finds no path that is written in another way', async () => {
    for (const path of ['/OAuth/token', '/oauth/token/', '/throw', '/throws/', '/Throws', '/%74hrows', '/']) {
      expect(await answer(path), path).to.equal(404);
    }
  });

  it('returns 405 with Allow for a method without a handler, and 404 for OPTIONS of an unknown path', async () => {
    for (const method of ['PUT', 'OPTIONS']) {
      const { status, headers } = await ask(server, '/oauth/token', {
        method,
        headers: { 'test-user': 'alice' },
      });
      expect([status, headers['allow']], method).to.deep.equal([405, 'GET, HEAD']);
    }
    expect(await answer('/unknown', 'OPTIONS')).to.equal(404);
  });

  it('sends errors of handlers and rejects targets that are no paths, with the same filters', async () => {
    expect(await answer('/throws')).to.equal(500);
    expect(await answer('*', 'OPTIONS')).to.equal(400);
    expect(await answer('http://[x/')).to.equal(400);
  });

  it('keeps the default headers of a response, and adds none of Express', async () => {
    for (const path of ['/oauth/token', '/oauth/keys', String(DISCOVERY), `${NODES}/n1`]) {
      const { headers } = await ask(server, path, { headers: { 'test-user': 'alice' } });
      expect(headers['audit-id'], path).to.match(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
      expect(headers['cache-control'], path).to.match(/^no-cache, private$|^no-store/);
      expect(headers, path).to.not.have.any.keys('x-powered-by', 'etag');
    }
  });
});
