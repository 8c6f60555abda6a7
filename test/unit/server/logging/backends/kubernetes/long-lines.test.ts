// Tests of log queries over long lines of pod logs.
import { setImmediate as round } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import type { Selection, TextFilter } from '../../../../../../server/logging/log-store.ts';
import { at, call, everything } from './instants.ts';
import { LogCluster } from './log-cluster.ts';

const DASHES = '- '.repeat(50_000);
const WORD: TextFilter = { mode: 'phrase', texts: ['needle'], caseSensitive: false };
/** An expensive pattern, and a line that makes it backtrack. */
const SLOW: TextFilter = { mode: 'regex', texts: ['[ab]*a[ab]{400}c'], caseSensitive: true };
const LETTERS = Array.from({ length: 100_000 }, (_, turn) => ((turn * 7_919) % 31 < 15 ? 'a' : 'b')).join('');

describe('long lines of pod logs', () => {
  let cluster: LogCluster;
  let store: KubernetesLogStore;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    store = cluster.store();
  });

  afterEach(() => cluster.stop());

  const found = ({ log }: { readonly log: string }): string => log.slice(-9).trim();
  const withWord: Selection = { ...everything, text: WORD };

  it('match in queries, statistics and exports', async () => {
    const lines = [
      `${DASHES} needle 1`,
      'needle 2',
      `${DASHES} nothing`,
      'nothing',
      `needle 3 ${DASHES} needle 4`,
    ];
    cluster.add(
      'shop',
      'a',
      lines.map((text, index) => at(index + 1, text)),
    );
    const wanted = ['needle 1', 'needle 2', 'needle 4'];

    const page = await store.query(withWord, { order: 'asc', size: 10, from: 0 }, call);
    expect(page.records.map(found)).to.deep.equal(wanted);
    expect(page.total).to.deep.equal({ count: 3, relation: 'eq' });
    expect((await store.statistics(withWord, call)).logs.count).to.equal(3);
    const exported: string[] = [];
    for await (const batch of store.export(withWord, 'desc', call)) exported.push(...batch.map(found));
    expect(exported).to.deep.equal(wanted.toReversed());
  });

  it('match in a live tail', async () => {
    const log = cluster.add('shop', 'a', [at(1, 'needle 0')]);
    const left = new AbortController();
    const batches = store.follow(withWord, { signal: left.signal, caller: 'alice' });
    log.append(at(2, `${DASHES} needle 1`), at(3, DASHES), at(4, 'needle 2'));
    const seen: string[] = [];
    for await (const batch of batches) {
      seen.push(...batch.map(found));
      if (seen.at(-1) === 'needle 2') left.abort();
    }
    expect(seen).to.deep.equal(['needle 0', 'needle 1', 'needle 2']);
  });

  it('do not block the event loop, and stop when the caller leaves', async () => {
    cluster.add(
      'shop',
      'a',
      Array.from({ length: 200 }, (_, index) => at(index + 1, LETTERS)),
    );
    const left = new AbortController();
    const counted = store.statistics({ ...everything, text: SLOW }, { ...call, signal: left.signal });
    const failure = counted.then(
      () => undefined,
      (error: unknown) => error,
    );
    for (let rounds = 0; rounds < 1_000; rounds++) await round();
    left.abort(new Error('left'));
    expect(await failure).to.include({ message: 'left' });
  });
});
