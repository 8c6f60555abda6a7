// Tests of the response to log operations that release 3.3 removed.
import { expect } from 'chai';
import { removedOperations } from '../../../../../server/logging/endpoints/removed-operations.ts';
import { servedHandler } from '../../../../support/handler-server.ts';
import { LOGS, LogService } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const GROUP = '/kapis/logging.platform.io/v1alpha2';

describe('operations that were removed in release 3.3', () => {
  const server = servedHandler(removedOperations(`${GROUP}/logs`));

  it('return 410 with the alternative, for every method of the API', async () => {
    for (const [path, methods, alternative] of [
      ['/cluster', ['GET'], `use GET ${GROUP}/logs`],
      ['/workspaces/w', ['GET'], 'namespaces'],
      ['/namespaces/shop/pods/cart-0/containers/app', ['GET'], 'pods and containers'],
      ['/fluentbit/outputs', ['GET', 'POST', 'DELETE'], 'operator'],
    ] as const) {
      for (const method of methods) {
        const { status, body } = await server.ask(`${GROUP}${path}`, { method });
        expect(status).to.equal(410);
        expect(JSON.parse(body.toString())).to.include({ kind: 'Status', reason: 'Gone', code: 410 });
        expect(body.toString()).to.include(alternative);
      }
    }
    expect((await server.ask(`${GROUP}/cluster`, { method: 'PUT' })).status).to.equal(405);
  });
});

const APIS = LOGS.replace('/kapis/', '/apis/');
const TABLE = {
  Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io',
};

describe('a request that lists logs as objects', () => {
  let service: LogService;

  before(async () => {
    service = await new LogService({ store: new MemoryLogStore([]) }).start();
  });
  after(() => service.stop());

  const ask = (path: string, headers = {}) => service.server.json(path, { headers });

  for (const [what, query, headers] of [
    ['kubectl get', '?limit=500', TABLE],
    ['kubectl get without pages', '', TABLE],
    ['kubectl get of one name', '/shop-1', TABLE],
  ] as const) {
    it(`is rejected with the command to use: ${what}`, async () => {
      expect(await ask(`${APIS}${query}`, headers)).to.include({
        code: 400,
        message: `logs cannot be listed as objects; use kubectl get --raw '${APIS}?size=10'`,
      });
    });
  }

  it('is not a query for lines, which reports its validation errors', async () => {
    expect(await ask(`${APIS}?size=10`)).to.have.property('query');
    expect(await ask(`${APIS}?watch=true`)).to.have.property('query');
    for (const path of [`${APIS}?namespaces=shop&limit=5`, `${LOGS}?limit=5`]) {
      expect(String((await ask(path))['message']), path).to.contain('did you mean "size"?');
    }
    expect(await ask(`${APIS}/shop-1`)).to.include({ code: 404 });
  });
});
