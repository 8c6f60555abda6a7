// Tests of the index for sorted and filtered lists.
import { expect } from 'chai';
import { array, assert, asyncProperty, boolean, constantFrom, integer, record, subarray } from 'fast-check';
import type { ObjectIdentity } from '../../../../../server/cache/resource-cache.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { PODS } from '../../../../../server/resources/kind.ts';
import { comparisonBy, sortKeysOf } from '../../../../../server/resources/kind-profile.ts';
import type { Sorting } from '../../../../../server/resources/lists/list-index.ts';
import type { KindFacts } from '../../../../../server/resources/profiles/kind-values.ts';
import { KindCache, type PlainObject, plain } from '../../../../support/platform/kind-cache.ts';
import { WorkPerTurn } from '../../../../support/work-per-turn.ts';

type Identity = ObjectIdentity<KindFacts>;

const SPACES = ['bank', 'shop', 'shop-2'];
const EVERYTHING = { key: '', test: () => true };
const ODD = { key: 'odd', test: ({ labels }: Identity) => labels['odd'] === 'yes' };

/** A slicer that is always spent, so that every task yields as often as it can. */
const yielding = () => new TimeSlicer(0);

const TASK = { caller: 'a', signal: new AbortController().signal };

function pod(key: string, version: number): PlainObject {
  const minute = String(version % 7).padStart(2, '0');
  const metadata = {
    creationTimestamp: `2026-01-01T00:${minute}:00Z`,
    ...(version % 2 === 1 ? { labels: { odd: 'yes' } } : {}),
  };
  return plain(key, version, metadata, {
    status: {
      phase: version % 3 === 0 ? 'Pending' : 'Running',
      containerStatuses: [{ restartCount: version % 4 }],
    },
  });
}

function keys(objects: Iterable<Identity>): string[] {
  return Array.from(objects, ({ key }) => key);
}

/** Filters and sorts all objects of the snapshot. */
function expected(
  { profile, cache }: KindCache,
  { sortBy, filter, namespaces }: Sorting<KindFacts>,
  snapshot = cache.snapshot(),
): string[] {
  const all = Array.from(snapshot.objects(), ({ identity }) => identity);
  return keys(
    all
      .filter(filter.test)
      .filter(({ namespace }) => namespaces?.includes(namespace) ?? true)
      .sort(comparisonBy(profile, sortBy)),
  );
}

async function sorted(pods: KindCache, sorting: Sorting<KindFacts>): Promise<string[]> {
  const { objects } = await pods.index.sorted(() => pods.snapshot(), sorting, TASK);
  return keys(objects);
}

describe('ListIndex', () => {
  const key = record({ namespace: constantFrom(...SPACES), name: integer({ min: 0, max: 20 }) }).map(
    ({ namespace, name }) => `${namespace}/pod-${name}`,
  );

  it('bounds the changes that are pending in all selections together', async () => {
    const pods = new KindCache(PODS).fill(1, [pod('shop/a', 1)]);
    const filtered = (i: number) =>
      sorted(pods, { sortBy: 'name', filter: { ...EVERYTHING, key: `${i}` }, namespaces: undefined });
    for (let i = 0; i < 200; i++) await filtered(i);
    for (let version = 2; version < 2_000; version++) {
      pods.apply('ADDED', pod(`shop/${version}`, version));
      if (version % 100 === 0) await filtered(0);
    }
    // The log of changes, and 8 bytes for each object of the selections.
    expect(pods.index.bytes).to.be.within(1_000, 2 << 20);
    await filtered(0);
    expect(await filtered(1)).to.have.length(1_999);
  });

  it('equals a filtered and sorted snapshot after any changes', async () => {
    const change = record({ key, gone: boolean(), read: boolean() });
    await assert(
      asyncProperty(
        array(change, { maxLength: 60 }),
        boolean(),
        subarray(SPACES),
        async (changes, relist, some) => {
          const pods = new KindCache(PODS, yielding());
          pods.fill(
            1,
            Array.from({ length: 30 }, (_, i) => pod(`${SPACES[i % 3]}/pod-${i}`, i + 1)),
          );
          const check = async (): Promise<void> => {
            for (const sortBy of sortKeysOf(pods.profile)) {
              for (const filter of [EVERYTHING, ODD]) {
                for (const namespaces of [undefined, some]) {
                  const sorting = { sortBy, filter, namespaces };
                  expect(await sorted(pods, sorting), sortBy).to.deep.equal(expected(pods, sorting));
                }
              }
            }
          };
          await check();
          let version = 100;
          for (const { key: at, gone, read } of changes) {
            pods.apply(gone ? 'DELETED' : 'MODIFIED', pod(at, ++version));
            if (read) await check();
          }
          if (relist) pods.fill(++version, [pod('shop/pod-1', 1), pod('bank/pod-99', 99)]);
          await check();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('is correct for concurrent calls while the cache changes', async () => {
    const pods = new KindCache(PODS, yielding());
    const count = 1_000;
    pods.fill(
      count,
      Array.from({ length: count }, (_, i) => pod(`${SPACES[i % 3]}/pod-${i}`, i + 1)),
    );
    let version = count;
    let running = 0;
    const call = async (sorting: Sorting<KindFacts>): Promise<void> => {
      running++;
      const { snapshot, objects } = await pods.index.sorted(() => pods.snapshot(), sorting, TASK);
      expect(keys(objects)).to.deep.equal(expected(pods, sorting, snapshot));
      running--;
    };
    const calls: Promise<void>[] = [];
    for (let round = 0; round < 10; round++) {
      for (const sortBy of ['name', 'restarts', 'creationTimestamp']) {
        for (const namespaces of [undefined, ['bank', 'shop']]) {
          for (const filter of [EVERYTHING, ODD]) calls.push(call({ sortBy, filter, namespaces }));
        }
      }
      // A few changes, and in some rounds more than are inserted one by one.
      for (let i = 0; i < (round % 3 === 0 ? 200 : 3); i++) {
        const at = (version * 7) % count;
        pods.apply(i % 5 === 0 ? 'DELETED' : 'MODIFIED', pod(`${SPACES[at % 3]}/pod-${at}`, ++version));
      }
      await new Promise(setImmediate);
    }
    expect(running).to.be.above(0);
    await Promise.all(calls);
  });

  it('checks its time slice after each filtered object, whatever changed', async () => {
    const pods = new KindCache(PODS, yielding());
    const count = 300;
    const fill = (version: number): KindCache =>
      pods.fill(
        version,
        Array.from({ length: count }, (_, i) => pod(`shop/pod-${i}`, version + i)),
      );
    const filtered = new WorkPerTurn();
    const select = (i: number): Promise<string[]> => {
      const test = (): boolean => {
        filtered.note();
        return true;
      };
      return sorted(pods, { sortBy: 'name', filter: { key: `filter-${i}`, test }, namespaces: undefined });
    };
    fill(1);
    for (let i = 0; i < 20; i++) await select(i);
    pods.apply('MODIFIED', pod('shop/pod-1', count + 1));
    pods.apply('DELETED', pod('shop/pod-2', count + 2));
    expect(await select(0)).to.have.length(count - 1);
    fill(count + 3);
    expect(await select(0)).to.have.length(count);
    expect(filtered.most).to.equal(1);
  });

  it('responds at once from the selection of a namespace, also while all objects are sorted', async () => {
    const pods = new KindCache(PODS, yielding());
    pods.fill(1, [pod('shop/a', 1), pod('bank/b', 2)]);
    const call = (namespaces: readonly string[] | undefined) =>
      pods.index.sorted(() => pods.snapshot(), { sortBy: 'name', filter: EVERYTHING, namespaces }, TASK);
    await call(['shop']);
    const all = call(undefined);
    expect(call(['shop'])).not.to.be.a('promise');
    expect(call(['bank'])).to.be.a('promise');
    pods.apply('ADDED', pod('shop/c', 103));
    const later = await call(['shop']);
    expect(keys(later.objects)).to.deep.equal(['shop/a', 'shop/c']);
    await all;
  });

  it('lists no objects for a typed name that is no namespace, and keeps its list apart from others', async () => {
    const pods = new KindCache(PODS).fill(1, [pod('shop/a', 1), pod('bank/b', 3)]);
    const select = (...namespaces: string[]) => sorted(pods, { sortBy: 'name', filter: ODD, namespaces });
    for (const typed of ['*', 'bank,shop', 'shop/a']) expect(await select(typed), typed).to.deep.equal([]);
    expect(await select('bank', 'shop')).to.deep.equal(['shop/a', 'bank/b']);
    const all = await sorted(pods, { sortBy: 'name', filter: ODD, namespaces: undefined });
    expect(all).to.deep.equal(['shop/a', 'bank/b']);
  });

  it('serves callers in turn, and computes nothing for a request that has ended', async () => {
    const pods = new KindCache(PODS, yielding());
    pods.fill(1, [pod('shop/a', 1), pod('bank/b', 2)]);
    const computed: string[] = [];
    const select = (name: string, caller: string, { signal }: AbortController): Promise<unknown> => {
      const test = (): boolean => {
        if (computed.at(-1) !== name) computed.push(name);
        return true;
      };
      const sorting = { sortBy: 'name', filter: { key: name, test }, namespaces: undefined };
      return Promise.resolve(pods.index.sorted(() => pods.snapshot(), sorting, { caller, signal })).catch(
        (error: Error) => error.message,
      );
    };
    const end = new AbortController();
    const all = [1, 2, 3, 4].map((i) => select(`a${i}`, 'a', i === 3 ? end : new AbortController()));
    all.push(select('b1', 'b', new AbortController()));
    end.abort(new Error('gone'));
    expect((await Promise.all(all))[2]).to.equal('gone');
    expect(computed).to.deep.equal(['a1', 'a2', 'b1', 'a4']);
  });

  it('reports a failed sort to its caller only', async () => {
    const pods = new KindCache(PODS);
    pods.fill(1, [pod('shop/a', 1)]);
    const sorting = { sortBy: 'unknown', filter: EVERYTHING, namespaces: undefined };
    const failed = Promise.resolve(pods.index.sorted(() => pods.snapshot(), sorting, TASK)).catch(String);
    expect(await sorted(pods, { ...sorting, sortBy: 'name' })).to.deep.equal(['shop/a']);
    expect(await failed).to.include('unknown');
  });
});
