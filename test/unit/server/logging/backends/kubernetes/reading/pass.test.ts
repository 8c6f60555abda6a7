import { expect } from 'chai';
import { Slots } from '../../../../../../../server/concurrency/slots.ts';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import type { LogSource } from '../../../../../../../server/logging/backends/kubernetes/pods/log-source.ts';
import { LogReader } from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import {
  Pass,
  type PassOptions,
  type Tally,
  type TallyFor,
} from '../../../../../../../server/logging/backends/kubernetes/reading/pass.ts';
import { Shortfalls } from '../../../../../../../server/logging/backends/kubernetes/reading/shortfalls.ts';
import { refuse, status } from '../../../../../../support/cluster/scripted-cluster.ts';
import { at, call, everything } from '../instants.ts';
import { LogCluster } from '../log-cluster.ts';
import { logSource } from '../log-source.ts';

/** A log that began with the day. */
const sourceOf = (pod: string): LogSource =>
  logSource(pod, { run: { id: pod, startedAt: Date.UTC(2026, 0, 1) } });

describe('a pass over logs', () => {
  let cluster: LogCluster;
  let reader: LogReader;
  let shortfalls: Shortfalls;
  let seen: string[];
  let dropped: string[];

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    reader = new LogReader({ client: cluster.connect(), slots: new Slots(100), turns: new Turns() });
    shortfalls = new Shortfalls({ count: 0, names: [] });
    [seen, dropped] = [[], []];
  });

  afterEach(() => cluster.stop());

  const tallyFor: TallyFor = (source) => {
    const lines: string[] = [];
    return {
      onLine: (_time, text) => lines.push(text),
      done: () => seen.push(...lines),
      drop: () => dropped.push(source.pod),
    };
  };
  const read = (
    sources: readonly LogSource[],
    more: Partial<PassOptions> & { readonly tally?: TallyFor } = {},
  ): Promise<void> =>
    new Pass({
      reader,
      sources,
      pods: { get: () => undefined },
      beginOf: () => everything.range.start,
      end: everything.range.end,
      filter: () => true,
      bytesPerContainer: 1 << 20,
      parallel: 4,
      deadline: new AbortController().signal,
      signal: call.signal,
      shortfalls,
      onFailure: () => undefined,
      ...more,
    }).readAll(more.tally ?? tallyFor);

  it('reads so many logs at a time, though more could be open', async () => {
    const pods = Array.from({ length: 10 }, (_, n) => `p${n}`);
    for (const pod of pods) cluster.add('shop', pod, [at(1)]);
    let [lines, reading, most] = [0, 0, 0];
    const tally = (): Tally => {
      most = Math.max(most, ++reading);
      return { onLine: () => lines++, done: () => reading-- };
    };
    await read(
      pods.map((pod) => sourceOf(pod)),
      { parallel: 2, tally },
    );
    expect({ lines, most }).to.deep.equal({ lines: 10, most: 2 });
  });

  it('fails with what whoever takes the lines throws, though other logs could be read', async () => {
    for (const pod of ['a', 'b']) cluster.add('shop', pod, [at(1)]);
    const fault = new RangeError('no such line');
    const tally = (source: LogSource) => ({
      onLine: () => {
        if (source.pod === 'a') throw fault;
      },
      done: () => undefined,
    });
    const failure = await read([sourceOf('a'), sourceOf('b')], { tally }).catch((error: unknown) => error);
    expect(failure).to.equal(fault);
  });

  it('misses nothing of a container of which the kubelet says that it has not begun', async () => {
    cluster.disturb = (_, response) => {
      const message = 'container "app" in pod "a" is waiting to start: ContainerCreating';
      response.writeHead(400).end(status(400, 'BadRequest', message));
      return true;
    };
    await read([sourceOf('a')]);
    expect(shortfalls.list()).to.deep.equal([]);
  });

  it('has read a log whole that goes beyond the bytes, but behind the end only', async () => {
    const lines = Array.from({ length: 100 }, (_, n) => at(n, 'x'.repeat(100)));
    cluster.add('shop', 'a', lines);
    await read([sourceOf('a')], { end: at(5).time, bytesPerContainer: 2_000 });
    expect(seen).to.have.length(5);
    expect(cluster.asked).to.have.length(1);
    expect(shortfalls.list()).to.deep.equal([]);
  });

  /** Twenty lines of equal length fit, and the newest eighteen are asked for. */
  const long = Array.from({ length: 100 }, (_, n) => at(n, String(n).padStart(69, ' ')));
  const twenty = 20 * 101;
  for (const [end, numbers] of [
    [82, Array.from({ length: 20 }, (_, n) => n)],
    [83, [82]],
  ] as const) {
    it(`keeps of a log that is too long what lies before the end, with line ${end} at that end`, async () => {
      cluster.add('shop', 'a', long);
      await read([sourceOf('a')], { end: at(end).time, bytesPerContainer: twenty });
      expect(seen.map(Number)).to.deep.equal(numbers);
      expect(dropped).to.deep.equal(['a']);
      const which = numbers.length === 1 ? 'the newest' : 'the oldest';
      expect(shortfalls.list()[0]?.message).to.include(which);
    });
  }

  it('says of the lines that it keeps of a log that is too long whether they were cut, and of no others', async () => {
    const [short, tooLong] = ['x'.repeat(100_000), 'y'.repeat(1_200_000)];
    const texts = [...Array.from({ length: 11 }, () => short), tooLong];
    cluster.add(
      'shop',
      'a',
      texts.map((text, n) => at(n, text)),
    );
    await read([sourceOf('a')], { bytesPerContainer: 1 << 20 });
    expect(shortfalls.list().map(({ message }) => message)).to.deep.equal([
      '1 log was so long that only the newest lines were read: shop/a/app',
      '1 line was too long, and was cut',
    ]);
  });

  it('says of a log that was removed that it was, and of one that could not be read that it could not', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.disturb = ({ pathname }, response) => {
      if (pathname.includes('/b/')) refuse(response, 500, 'InternalError');
      return pathname.includes('/b/');
    };
    await read(['a', 'b', 'removed'].map((pod) => sourceOf(pod)));
    expect(shortfalls.list().map(({ message }) => message)).to.deep.equal([
      '1 log was not read to the end, because the kubelet did not answer as it should: shop/b/app',
      '1 log was not read to the end, because the pod or its log was removed: shop/removed/app',
    ]);
  });

  it('tells the log that may not be read from the others, and fails when there are no others', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.disturb = ({ pathname }, response) => {
      if (pathname.includes('/a/')) return false;
      refuse(response, 403, 'Forbidden');
      return true;
    };
    const failures: string[] = [];
    const onFailure: PassOptions['onFailure'] = ({ pod }, kind) => failures.push(`${pod} ${kind}`);
    await read([sourceOf('a'), sourceOf('b')], { onFailure });
    expect(failures).to.deep.equal(['b refused']);
    expect(seen).to.deep.equal(['line 1']);
    const failure = await read([sourceOf('b'), sourceOf('c')]).catch((error: unknown) => error);
    expect(failure).to.include({ name: 'LogFailure', kind: 'refused' });
  });
});
