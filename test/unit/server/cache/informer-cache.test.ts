// Tests of InformerCache: snapshots, watches and reads.
import { expect } from 'chai';
import { isExpired } from '../../../../apis/meta/v1/errors.ts';
import { InformerCache } from '../../../../server/cache/informer-cache.ts';
import type { Watcher } from '../../../../server/cache/resource-cache.ts';
import { describeReflectorSink } from '../../../conformance/reflector-sink.suite.ts';
import { rawThing, THINGS } from '../../../support/cluster/raw-objects.ts';

type Facts = { readonly size: number };

const newCache = (now = () => 0, history = { snapshots: 5, ageMs: 1000, bytes: 1e9 }): InformerCache<Facts> =>
  new InformerCache({
    definition: THINGS,
    log: { info: () => undefined, warn: () => undefined },
    window: { events: 100, ageMs: 1000, bytes: 1e9 },
    history,
    probe: () => Promise.resolve(),
    waitMs: 50,
    now,
  });

function fill(cache: InformerCache<Facts>, version: number, names: readonly string[]): void {
  const replacement = cache.replacement();
  for (const name of names) replacement.add(rawThing(name, version - 1));
  replacement.commit(String(version));
}

function filled(now?: () => number): InformerCache<Facts> {
  const cache = newCache(now);
  fill(cache, 10, ['a', 'b', 'c']);
  return cache;
}

class Recorder implements Watcher<Facts> {
  readonly heard: string[] = [];
  event({ type, object }: Parameters<Watcher<Facts>['event']>[0]): void {
    this.heard.push(`${type} ${object.key}@${object.resourceVersion}`);
  }
  bookmark(resourceVersion: string): void {
    this.heard.push(`BOOKMARK ${resourceVersion}`);
  }
  end(): void {
    this.heard.push('end');
  }
}

const keys = (cache: InformerCache<Facts>) => [...cache.snapshot().objects()].map(({ key }) => key);

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describeReflectorSink('InformerCache with facts only', () => {
  const cache = new InformerCache({
    definition: { ...THINGS, reduced: { read: () => ({ size: 0 }), of: () => ({ size: 0 }) } },
    log: { info: () => undefined, warn: () => undefined },
    waitMs: 50,
    now: () => 0,
    window: { events: 100, ageMs: 1000, bytes: 1e9 },
    history: { snapshots: 5, ageMs: 1000, bytes: 1e9 },
    probe: () => Promise.resolve(),
    content: 'facts',
  });
  const contents = (): string[] | undefined =>
    cache.synced
      ? Array.from(cache.facts().objects(), ({ key, resourceVersion }) => `${key}@${resourceVersion}`)
      : undefined;
  return { sink: cache, contents };
});

describe('InformerCache', () => {
  it('leaves out an object that cannot be read, and stores all others', () => {
    const cache = newCache();
    const replacement = cache.replacement();
    replacement.add(Buffer.from('{"metadata":{"resourceVersion":"9"}}'));
    replacement.add(rawThing('a', 9));
    replacement.add(Buffer.from('[{"metadata":{}}]'));
    replacement.add(Buffer.from('{"metadata":{"name":"nan"},"size":NaN}'));
    replacement.commit('10');
    cache.apply('ADDED', Buffer.from('{"metadata":{"resourceVersion":"11"}}'));
    cache.apply('ADDED', rawThing('b', 12));
    expect(keys(cache)).to.deep.equal(['a', 'b']);
  });

  it('returns 503 with Retry-After before the first list', async () => {
    const cache = newCache();
    const replacement = cache.replacement();
    replacement.add(rawThing('a', 1));
    expect(cache.synced).to.equal(false);
    for (const read of [
      () => cache.snapshot(),
      () => cache.snapshotAt('1'),
      () => cache.watch('1', new Recorder()),
    ]) {
      expect(thrownBy(read)).to.deep.include({ code: 503, details: { retryAfterSeconds: 1 } });
    }
    const waited: unknown = await cache.waitUntil('1', new AbortController().signal).catch((e: unknown) => e);
    expect(waited).to.have.property('code', 503);
    replacement.commit('10');
    expect(cache.synced).to.equal(true);
    expect(keys(cache)).to.deep.equal(['a']);
  });

  it('derives event types from its own content, not from the stream', () => {
    const cache = filled();
    const watcher = new Recorder();
    cache.watch('10', watcher);
    cache.apply('ADDED', rawThing('b', 11));
    cache.apply('MODIFIED', rawThing('d', 12));
    cache.apply('DELETED', rawThing('a', 13));
    cache.apply('DELETED', rawThing('unknown', 14));
    expect(keys(cache)).to.deep.equal(['b', 'c', 'd']);
    expect(cache.currentResourceVersion).to.equal('14');
    expect(watcher.heard).to.deep.equal(['MODIFIED b@11', 'ADDED d@12', 'DELETED a@13']);
  });

  it('applies an event from two streams once', () => {
    const cache = filled();
    const watcher = new Recorder();
    cache.watch('10', watcher);
    for (const version of [11, 12, 11, 12, 13]) cache.apply('MODIFIED', rawThing('a', version));
    expect(watcher.heard).to.deep.equal(['MODIFIED a@11', 'MODIFIED a@12', 'MODIFIED a@13']);
    expect(cache.currentResourceVersion).to.equal('13');
  });

  it('never sends watchers a bookmark that goes backwards', () => {
    const cache = filled();
    const watcher = new Recorder();
    cache.watch('10', watcher);
    cache.apply('MODIFIED', rawThing('a', 13));
    cache.bookmark('12');
    cache.bookmark('14');
    expect(watcher.heard).to.deep.equal(['MODIFIED a@13', 'BOOKMARK 13', 'BOOKMARK 14']);
  });

  it('ends all watches at a relist, resets the window and invents no DELETED events', () => {
    const cache = filled();
    cache.apply('MODIFIED', rawThing('a', 11));
    const watcher = new Recorder();
    cache.watch('10', watcher);
    fill(cache, 30, ['c', 'x']);
    cache.apply('MODIFIED', rawThing('x', 31));
    expect(watcher.heard).to.deep.equal(['MODIFIED a@11', 'end']);
    expect(keys(cache)).to.deep.equal(['c', 'x']);
    expect(isExpired(thrownBy(() => cache.watch('11', new Recorder())))).to.equal(true);
    expect(isExpired(thrownBy(() => cache.snapshotAt('11')))).to.equal(true);
    expect(cache.watchers).to.equal(0);
  });

  it('rejects a watch from an evicted version, also without new events', () => {
    let now = 0;
    const cache = filled(() => now);
    cache.apply('MODIFIED', rawThing('a', 11));
    now = 2000;
    expect(isExpired(thrownBy(() => cache.watch('10', new Recorder())))).to.equal(true);
    cache.watch('11', new Recorder());
  });

  it('keeps past snapshots for the pages of a list, within its limits', () => {
    let now = 0;
    const cache = filled(() => now);
    const first = cache.snapshot();
    for (let version = 11; version <= 15; version++)
      cache.apply('DELETED', rawThing('abc'[version - 11] ?? '-', version));
    expect(keys(cache)).to.deep.equal([]);
    expect(cache.snapshotAt('10')).to.equal(first);
    expect([...cache.snapshotAt('10').objects()].map(({ key }) => key)).to.deep.equal(['a', 'b', 'c']);
    expect(cache.snapshotAt('12').size).to.equal(1);
    cache.bookmark('16');
    expect(isExpired(thrownBy(() => cache.snapshotAt('10')))).to.equal(true);
    expect(cache.snapshotAt('12').size).to.equal(1);
    now = 2000;
    expect(isExpired(thrownBy(() => cache.snapshotAt('12')))).to.equal(true);
    expect(cache.snapshotAt('16').size).to.equal(0);
  });

  /** Number of available snapshots before the last of ten changes. */
  function keptOf(bytes: number, change: (cache: InformerCache<Facts>, version: number) => void): number {
    const cache = newCache(undefined, { snapshots: 100, ageMs: 1000, bytes });
    // Memory of a previous history no longer counts.
    for (const first of [10, 10]) {
      fill(cache, first, ['a', 'b', 'c']);
      for (let version = 11; version <= 20; version++) change(cache, version);
    }
    let kept = 0;
    for (let version = 19; version >= 10; version--) {
      if (thrownBy(() => cache.snapshotAt(String(version))) === undefined) kept++;
    }
    return kept;
  }

  it('limits the memory that only past snapshots hold', () => {
    // The API group of the cached object is longer than that of the raw object. A list of chunks has one pointer.
    const size = rawThing('a', 11).length + 'resources.platform.io/v1alpha3'.length - 'v1'.length + 8;
    const modify = (cache: InformerCache<Facts>, version: number): void =>
      cache.apply('MODIFIED', rawThing('a', version));
    expect(keptOf(1e9, modify)).to.equal(10);
    expect(keptOf(size * 5, modify)).to.equal(5);
    const comeAndGo = (cache: InformerCache<Facts>, version: number): void =>
      cache.apply(version % 2 > 0 ? 'DELETED' : 'ADDED', rawThing('a', version));
    expect(keptOf(size * 2 + 16, comeAndGo)).to.be.within(4, 5);
    // The JSON of a list that was read shares one buffer, so one object keeps the whole buffer in memory.
    const readAndModify = (cache: InformerCache<Facts>, version: number): void => {
      for (const piece of cache.snapshot().pieces()) piece.json();
      modify(cache, version);
    };
    expect(keptOf(size * 7, readAndModify)).to.equal(2);
  });

  it('returns its state at a resourceVersion of another kind, for pages of another replica', () => {
    const cache = filled();
    cache.apply('DELETED', rawThing('a', 15));
    cache.apply('DELETED', rawThing('b', 20));
    const at = cache.snapshotAt('17');
    expect(at.resourceVersion).to.equal('17');
    expect([...at.objects()].map(({ key }) => key)).to.deep.equal(['b', 'c']);
    expect(isExpired(thrownBy(() => cache.snapshotAt('9')))).to.equal(true);
    expect(thrownBy(() => cache.snapshotAt('21'))).to.deep.include({ code: 504, reason: 'Timeout' });
  });

  it('rejects a non-numeric resourceVersion', async () => {
    const cache = filled();
    for (const version of ['', 'abc', '-1', '1.5', '0x10', '9'.repeat(30)]) {
      expect(thrownBy(() => cache.watch(version, new Recorder()))).to.have.property('code', 400);
      const waited: unknown = await cache
        .waitUntil(version, new AbortController().signal)
        .catch((e: unknown) => e);
      expect(waited).to.have.property('code', 400);
    }
  });

  it('preserves unknown fields and integers above 2^53 in lists and watches', () => {
    const cache = filled();
    const frames: string[] = [];
    cache.watch('10', {
      event: (e) => frames.push(e.object.bytes.toString()),
      bookmark: () => 0,
      end: () => 0,
    });
    const rest =
      '"metadata":{"name":"big","resourceVersion":"11"},"new":{"n":9007199254740993,"f":1.10,"e":1E5}';
    cache.apply('ADDED', Buffer.from(`{"kind":"Thing","apiVersion":"v1",${rest}}`));
    const expected = `{"kind":"Thing","apiVersion":"resources.platform.io/v1alpha3",${rest}}`;
    expect(cache.snapshot().get('big')?.bytes.toString()).to.equal(expected);
    expect(frames).to.deep.equal([expected]);
    expect(
      cache
        .snapshot()
        .pieces()
        .map((piece) => piece.json().toString())
        .join(','),
    ).to.include(expected);
  });
});

describeReflectorSink('the informer cache', () => {
  const cache = newCache();
  // The objects in the JSON that lists send.
  const pieces = () =>
    cache
      .snapshot()
      .pieces()
      .map((piece) => piece.json().toString())
      .join(',');
  const objects = () =>
    JSON.parse(`[${pieces()}]`) as { metadata: { name: string; resourceVersion: string } }[];
  return {
    sink: cache,
    contents: () =>
      cache.synced
        ? objects().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
        : undefined,
  };
});
