// Tests of live tails of OpenSearch against a fake node.
import { expect } from 'chai';
import type { LogRecord } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { until } from '../../../../../support/until.ts';
import {
  type Line,
  RESPONDED,
  type ScriptedStore,
  SELECTION,
  scriptedStore,
  searchIn,
  searchResponse,
} from './scripted-store.ts';

const FIRST = { id: 'first', key: '1768435200000000001', sequence: 1 };
const SECOND = { id: 'second', key: '1768435200000000002', sequence: 2 };

function follow(store: ScriptedStore, many = 1) {
  const leaving = new AbortController();
  const backend = storeAt(store.url, { followTuning: { pollMs: 1, retryMs: 1 } });
  const logs: string[] = [];
  const read = async (lines: AsyncIterable<readonly LogRecord[]>): Promise<void> => {
    for await (const batch of lines) logs.push(...batch.map(({ log }) => log));
  };
  const tails = Array.from({ length: many }, () => backend.follow(SELECTION, call(leaving.signal)));
  const reading = tails.map(read);
  const leave = () => {
    leaving.abort(new Error('gone'));
    return Promise.allSettled(reading);
  };
  return { logs, leave };
}

describe('a live tail of OpenSearch', () => {
  it('delivers each record once, also one that becomes searchable behind newer ones', async () => {
    const lines: Line[] = [FIRST];
    await using store = await scriptedStore((request) =>
      searchIn(lines, request).replace(/"value":\d+/, `"value":${lines.length}`),
    );
    const { logs, leave } = follow(store);
    await until(() => logs.length === 1);
    lines.push(SECOND);
    await until(() => logs.length === 2);
    const polls = store.requests.length;
    await until(() => store.requests.length > polls + 3);
    lines.unshift({ id: 'late', key: '1768435200000000000', sequence: 0 });
    await until(() => logs.length === 3);
    const after = store.requests.length;
    await until(() => store.requests.length > after + 3);
    expect(logs).to.deep.equal(['first', 'second', 'late']);
    await leave();
  });

  it('shares five slots between all live tails, and each searches the same copies of the shards', async () => {
    let open = 0;
    let most = 0;
    await using store = await scriptedStore((_, response) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        response.end(searchResponse([FIRST]));
      });
      return RESPONDED;
    });
    const { logs, leave } = follow(store, 20);
    await until(() => logs.length === 20);
    expect(most).to.be.within(1, 5);
    await leave();
    const preferences = new Set(
      store.requests.map(({ path }) => new URL(path, store.url).searchParams.get('preference')),
    );
    expect([...preferences][0]).to.match(/^follow-/);
    expect(preferences.size).to.equal(20);
  });

  it('takes no slot of another caller for searches that hang', async () => {
    let hanging = 0;
    await using store = await scriptedStore(({ text }) => {
      if (!text.includes('evil')) return searchResponse([FIRST]);
      hanging++;
      return RESPONDED;
    });
    const backend = storeAt(store.url, { followTuning: { pollMs: 1, retryMs: 1 } });
    const leaving = new AbortController();
    const first = (caller: string, namespace: string): Promise<IteratorResult<readonly LogRecord[]>> =>
      backend
        .follow({ ...SELECTION, namespaces: { exact: [namespace] } }, { ...call(leaving.signal), caller })
        .next();
    const reading = Array.from({ length: 10 }, () => first('mallory', 'evil'));
    await until(() => hanging >= 3);
    expect((await first('jane', 'shop')).value).to.have.length(1);
    expect(hanging).to.equal(3);
    leaving.abort(new Error('gone'));
    await Promise.allSettled(reading);
  }).timeout(8_000);

  it('fails at once if the store is unavailable at its start', async () => {
    const store = await scriptedStore(() => searchResponse([]));
    await store[Symbol.asyncDispose]();
    const first = storeAt(store.url).follow(SELECTION, call()).next();
    expect(await rejection(first)).to.include({ code: 503 });
  });
});
