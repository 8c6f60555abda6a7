import { expect } from 'chai';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { ANSWERED, answer, CAPABILITIES, call, type Script, scriptedStore } from './scripted-store.ts';

const PAGE = { order: 'asc', size: 10, from: 0 } as const;
const LINE = { id: 'a', key: '1768521600000000000', sequence: 1 };
/** Three days. */
const SELECTION = {
  scope: { everything: true },
  range: { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-18T00:00:00.000000000Z' },
} as const;

/** As the security plugin does it: of a request that names one of these indices, nothing is answered. */
function forbidding(isForbidden: (name: string) => boolean, script: Script): Script {
  return (asked, response) => {
    const names = asked.path.split('/')[1]?.split(',') ?? [];
    if (!names.some((name) => isForbidden(name) || name.includes('*'))) return script(asked, response);
    const reason = 'no permissions for [indices:data/read/search] and User [name=logs, backend_roles=[]]';
    const error = {
      root_cause: [{ type: 'security_exception', reason }],
      type: 'security_exception',
      reason,
    };
    response.writeHead(403).end(JSON.stringify({ error, status: 403 }));
    return ANSWERED;
  };
}

function storeForbidding(isForbidden: (name: string) => boolean, line = LINE) {
  return scriptedStore(
    forbidding(isForbidden, () => answer([line])),
    forbidding(isForbidden, () => CAPABILITIES),
  );
}

describe('an OpenSearch that lets this server read some of its indices only', () => {
  it('answers from those, and says which are missing, asking about each of them now and then', async () => {
    await using store = await storeForbidding((name) => name.endsWith('01.15') || name.endsWith('01.17'));
    const backend = storeAt(store.url);
    for (let round = 0; round < 3; round++) {
      const page = await backend.query(SELECTION, PAGE, call());
      expect(page.records).to.have.length(1);
      expect(page.total).to.deep.equal({ count: 1, relation: 'gte' });
      const message = 'the log store refuses to search logs-2026.01.15, logs-2026.01.17';
      expect(page.shortfalls).to.deep.equal([{ reason: 'NotCovered', message }]);
    }
    const paths = store.asked.map(({ path }) => path.split('?')[0]);
    expect(paths.filter((path) => path === '/logs-2026.01.15/_search')).to.have.length(1);
    expect(paths.filter((path) => path === '/logs-2026.01.16/_search')).to.have.length(4);
  });

  it('is unavailable where it lets it read none of a time, and says why', async () => {
    await using store = await storeForbidding(() => true);
    const error: unknown = await storeAt(store.url)
      .query(SELECTION, PAGE, call())
      .catch((thrown: unknown) => thrown);
    expect(error).to.include({ name: 'StatusError', code: 503 });
    expect(error).to.match(/does not let this server search all of this range/);
    expect((error as Error).cause).to.match(/security_exception/);
  });

  it('is unavailable where there are none among those that may be read: others may have lines', async () => {
    const isForbidden = (name: string): boolean => name.endsWith('01.16');
    const missing: Script = (_, response) => {
      const error = { type: 'index_not_found_exception', reason: 'no such index' };
      response.writeHead(404).end(JSON.stringify({ error, status: 404 }));
      return ANSWERED;
    };
    await using store = await scriptedStore(
      forbidding(isForbidden, missing),
      forbidding(isForbidden, missing),
    );
    const error: unknown = await storeAt(store.url)
      .query(SELECTION, PAGE, call())
      .catch((thrown: unknown) => thrown);
    expect(error).to.include({ name: 'StatusError', code: 503 });
  });

  it('answers from the newest of more days than have names in a request', async () => {
    await using store = await storeForbidding((name) => name.endsWith('01.15'));
    const range = { ...SELECTION.range, start: '1970-01-01T00:00:00.000000000Z' };
    const page = await storeAt(store.url).query({ ...SELECTION, range }, PAGE, call());
    expect(page.records).to.have.length(1);
    expect(page.shortfalls.map(({ message }) => message)).to.deep.equal([
      'the log store refuses to search logs-2026.01.15',
      'the log store refuses to search all indices at once: those before logs-2025.09.12 are left out',
    ]);
  });

  it('is unavailable where indices have no day', async () => {
    await using store = await storeForbidding((name) => name.endsWith('01.15'));
    const error: unknown = await storeAt(store.url, { dailyIndices: false })
      .query(SELECTION, PAGE, call())
      .catch((thrown: unknown) => thrown);
    expect(error).to.include({ name: 'StatusError', code: 503 });
  });

  it('says so to its check', async () => {
    await using store = await storeForbidding((name) => name.endsWith('01.15'));
    const error: unknown = await storeAt(store.url)
      .check(call())
      .catch((thrown: unknown) => thrown);
    expect(unfitOptionIn(error)?.reason).to.match(/refuses to search some of the indices/);
  });

  it('is no empty store where it searches indices and tells no fields of them', async () => {
    await using store = await scriptedStore(() => answer([LINE]), { indices: [], fields: {} });
    const backend = storeAt(store.url);
    const error: unknown = await backend.query(SELECTION, PAGE, call()).catch((thrown: unknown) => thrown);
    expect(error).to.include({ name: 'StatusError', code: 503 });
    expect(unfitOptionIn(error)?.reason).to.match(/granted indices:data\/read\/field_caps\*$/);
  });
});
