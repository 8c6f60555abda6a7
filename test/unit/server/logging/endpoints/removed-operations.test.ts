import { expect } from 'chai';
import { removedOperations } from '../../../../../server/logging/endpoints/removed-operations.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

const GROUP = '/kapis/logging.platform.io/v1alpha2';

describe('operations that were removed in release 3.3', () => {
  let server: HandlerServer;
  before(async () => {
    server = await new HandlerServer(removedOperations(`${GROUP}/logs`)).start();
  });
  after(() => server.close());

  const told = async (path: string, method = 'GET'): Promise<readonly [number, string]> => {
    const { status, body } = await server.ask(`${GROUP}${path}`, { method });
    return [status, body.toString()];
  };

  for (const [path, cure] of [
    ['/cluster', `${GROUP}/logs,`],
    ['/workspaces/w', 'namespaces='],
    ['/namespaces/shop', `${GROUP}/logs?namespaces=shop`],
    ['/namespaces/shop/workloads/cart', 'namespaces=shop&workloads=cart'],
    ['/namespaces/shop/pods/cart-0', 'namespaces=shop&pods=cart-0'],
    ['/namespaces/shop/pods/cart-0/containers/app', 'namespaces=shop&pods=cart-0&containers=app'],
    ['/namespaces/a%26b', 'namespaces=a%26b'],
  ] as const) {
    it(`are gone, with what to ask instead: ${path}`, async () => {
      const [status, body] = await told(path);
      expect(status).to.equal(410);
      expect(JSON.parse(body)).to.include({ kind: 'Status', reason: 'Gone', code: 410 });
      expect(body).to.include(cure);
      expect((await told(path, 'HEAD'))[0]).to.equal(410);
      expect((await told(path, 'POST'))[0]).to.equal(405);
    });
  }

  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
    it(`are gone with the settings of logs: ${method}`, async () => {
      for (const path of ['/fluentbit/outputs', '/fluentbit/outputs/es']) {
        const [status, body] = await told(path, method);
        expect(status).to.equal(410);
        expect(body).to.include('operator');
      }
    });
  }

  it('are not taken for what never was there', async () => {
    for (const path of [
      '/cluster/x',
      '/workspaces',
      '/namespaces',
      '/namespaces/a/pods',
      '/pods/a',
      '/workloads/w',
      '/namespaces/a/pods/b/logs',
      '/namespaces/a/pods/b/containers',
      '/namespaces/a/pods/b/containers/c/d',
      '/fluentbit',
      '/fluentbit/inputs',
      '/fluentbit/outputs/a/b',
    ]) {
      expect((await told(path))[0], path).to.equal(404);
    }
  });
});
