// Tests that each log store uses the time slices of its caller, so that callers share the event loop fairly.
import { expect } from 'chai';
import type { Call, LogBackend, Selection } from '../../../../../server/logging/store/log-store.ts';
import { storeAt as openSearchAt } from '../../../../support/logging/opensearch-store.ts';
import { rows, ScriptedVictoriaLogs } from '../../../../support/logging/scripted-victorialogs.ts';
import { storeAt as victoriaLogsAt } from '../../../../support/logging/victorialogs.ts';
import { ObservedSlicer } from '../../../../support/observed-slicer.ts';
import { at, everything } from './kubernetes/instants.ts';
import { LogCluster } from './kubernetes/log-cluster.ts';
import { SELECTION, scriptedStore, searchIn } from './opensearch/scripted-store.ts';

interface Backend extends AsyncDisposable {
  readonly store: LogBackend;
  readonly selection: Selection;
}

const TIME = '2026-01-01T12:00:00Z';
const KEY = String(BigInt(Date.parse('2026-01-15T12:00:00Z')) * 1_000_000n);

const BACKENDS: Readonly<Record<string, (slicer: ObservedSlicer) => Promise<Backend>>> = {
  kubernetes: async (slicer) => {
    const cluster = await new LogCluster().start();
    cluster.add('shop', 'a', [at(1), at(2)]);
    cluster.add('shop', 'b', [at(1), at(2)]);
    const store = cluster.store({}, { slicer });
    return { store, selection: everything, [Symbol.asyncDispose]: () => cluster.stop() };
  },
  victorialogs: async (slicer) => {
    const server = await ScriptedVictoriaLogs.start((response, { form }) => {
      const isCount = form.get('query')?.includes(' stats ');
      const found = isCount
        ? { n: '1', first: TIME, last: TIME, _time: TIME }
        : { _time: TIME, _msg: 'line' };
      rows(found)(response, { path: '', form, headers: {} });
    });
    const store = victoriaLogsAt(server.url, { slicer });
    return { store, selection: everything, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
  opensearch: async (slicer) => {
    const server = await scriptedStore((request) => searchIn([{ id: 'a', key: KEY, sequence: 1 }], request));
    const store = openSearchAt(server.url, { slicer });
    return { store, selection: SELECTION, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
};

const OPERATIONS: Readonly<Record<string, (backend: Backend, call: Call) => Promise<unknown>>> = {
  query: ({ store, selection }, call) => store.query(selection, { order: 'desc', size: 10, from: 0 }, call),
  export: ({ store, selection }, call) => Array.fromAsync(store.export(selection, 'asc', call)),
  follow: async ({ store, selection }, call) => {
    for await (const records of store.follow(selection, call)) if (records.length > 0) return;
  },
};

describe('the time slices of log stores', () => {
  for (const [name, start] of Object.entries(BACKENDS)) {
    for (const [operation, run] of Object.entries(OPERATIONS)) {
      it(`are those of the caller: ${name}, ${operation}`, async () => {
        const slicer = new ObservedSlicer();
        await using backend = await start(slicer);
        const end = new AbortController();
        await run(backend, { signal: end.signal, timeoutMs: 60_000, caller: 'ada' });
        end.abort();
        expect(slicer.callers).to.have.length.above(0);
        expect(new Set(slicer.callers)).to.deep.equal(new Set(['ada']));
      });
    }
  }
});
