import { expect } from 'chai';
import { LOGS, LogService } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const APIS = LOGS.replace('/kapis/', '/apis/');
const TABLE = {
  Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io',
};

describe('logs that are asked for as objects are listed', () => {
  let service: LogService;

  before(async () => {
    service = await new LogService({ store: new MemoryLogStore([]) }).start();
  });
  after(() => service.stop());

  const ask = (path: string, headers = {}) => service.server.json(path, { headers });

  for (const [what, query, headers] of [
    ['as kubectl get does it', '?limit=500', TABLE],
    ['as kubectl get does it without pages', '', TABLE],
    ['of one name', '/shop-1', TABLE],
    ['as kubectl describe does it', '?limit=500', {}],
    ['as an informer does it', '?limit=500&resourceVersion=0', {}],
    ['as a watch', '?watch=true&allowWatchBookmarks=true&resourceVersion=1', {}],
  ] as const) {
    it(`are refused with what to type instead: ${what}`, async () => {
      expect(await ask(`${APIS}${query}`, headers)).to.include({
        code: 400,
        message: `logs are queried, and cannot be listed as objects; try: kubectl get --raw '${APIS}?size=10'`,
      });
    });
  }

  it('are answered where the question is one for lines, and its faults are told', async () => {
    expect(await ask(`${APIS}?size=10`)).to.have.property('query');
    expect(await ask(`${APIS}?watch=true`)).to.have.property('query');
    for (const path of [`${APIS}?namespaces=shop&limit=5`, `${LOGS}?limit=5`]) {
      expect(String((await ask(path))['message']), path).to.contain('did you mean "size"?');
    }
    expect(await ask(`${APIS}/shop-1`)).to.include({ code: 404 });
  });
});
