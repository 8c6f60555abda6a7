import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Slots } from '../../../../../../../server/concurrency/slots.ts';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import {
  ContainerTail,
  type ContainerTailOptions,
} from '../../../../../../../server/logging/backends/kubernetes/following/container-tail.ts';
import type { Progress } from '../../../../../../../server/logging/backends/kubernetes/following/low-watermark.ts';
import type { LogSource } from '../../../../../../../server/logging/backends/kubernetes/pods/log-source.ts';
import { LogReader } from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import { refuse } from '../../../../../../support/cluster/scripted-cluster.ts';
import { until } from '../../../../../../support/until.ts';
import { at, everything } from '../instants.ts';
import { KubeletLog } from '../kubelet-log.ts';
import { LogCluster } from '../log-cluster.ts';
import { logSource } from '../log-source.ts';

const sourceOf = (run: number, more: Partial<Pick<LogSource, 'previous' | 'running'>> = {}): LogSource =>
  logSource('a', { run: { id: `run ${run}`, startedAt: Date.UTC(2026, 0, 1) }, ...more });

describe('the tail of a container', () => {
  let cluster: LogCluster;
  let leaving: AbortController;
  let seen: string[];
  let changes: AbortSignal[];
  let running: Promise<void>;
  let sources: readonly LogSource[] | undefined;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    leaving = new AbortController();
    [seen, changes, running] = [[], [], Promise.resolve()];
  });

  afterEach(async () => {
    leaving.abort();
    await running;
    await cluster.stop();
  });

  /** Nothing changes but what a test changes before. */
  const follow = (of: readonly LogSource[], more: Partial<ContainerTailOptions> = {}): void => {
    sources = of;
    const client = cluster.connect();
    const memory = new MemoryBudget(1 << 20);
    const tail = new ContainerTail({
      client,
      reader: new LogReader({ client, slots: new Slots(1), turns: new Turns() }),
      sources: () => sources,
      changed: (signal) => {
        changes.push(signal);
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve(), { once: true });
        return promise;
      },
      begin: everything.range.start,
      filter: () => true,
      room: () => undefined,
      give: (records) => seen.push(...records.map(({ log }) => log)),
      progress: undefined,
      unfinished: () => memory.share(),
      initialBackoffMs: 1,
      onFailure: () => undefined,
      ...more,
    });
    running = tail.run(leaving.signal);
  };

  /** Of a backlog that others wait for. */
  const progress: Progress = { reached: () => undefined, end: () => undefined, isLast: () => false };

  for (const [what, more] of [
    ['lines as they come', {}],
    ['a backlog', { progress }],
  ] as const) {
    it(`asks a kubelet that fails for ${what} again only when a while has passed`, async () => {
      cluster.disturb = (_, response) => {
        refuse(response, 500, 'InternalError');
        return true;
      };
      follow([sourceOf(1)], { initialBackoffMs: 5_000, ...more });
      await until(() => cluster.asked.length > 0);
      await delay(50);
      expect(cluster.asked).to.have.length(1);
    });
  }

  it('comes back at once to a log whose streams break, as long as each of them gave lines', async () => {
    let lines = 0;
    cluster.disturb = (_, response) => {
      const { time, text } = at(++lines);
      response.writeHead(200).write(`${time} ${text}\n`, () => response.destroy());
      return true;
    };
    const begin = performance.now();
    follow([sourceOf(1)]);
    // Waits that double, up to five seconds each, would be of half a minute by then.
    await until(() => seen.length >= 20);
    expect(performance.now() - begin).to.be.below(15_000);
  });

  it('reads a log less and less often that the kubelet gives but cannot follow, and misses nothing', async () => {
    let lines = 0;
    cluster.disturb = (_, response) => {
      const { time, text } = at(++lines);
      response.writeHead(200).end(`${time} ${text}\nfailed to create fsnotify watcher: too many open files`);
      return true;
    };
    const begin = performance.now();
    follow([sourceOf(1)]);
    await until(() => seen.length === 12);
    // At least half of 1, 2, 4 and so on up to 1,024 ms.
    expect(performance.now() - begin).to.be.above(1_000);
    expect(seen).to.deep.equal(Array.from({ length: 12 }, (_, index) => `line ${index + 1}`));
  });

  it('follows a log at once when its backlog has been read', async () => {
    const log = cluster.add('shop', 'a', [at(1)]);
    const begin = performance.now();
    follow([sourceOf(1)], { initialBackoffMs: 5_000, progress });
    await until(() => log.followers === 1);
    expect(performance.now() - begin).to.be.below(2_000);
    expect(seen).to.deep.equal(['line 1']);
  });

  it('gives the last line of a run that has ended, also without its end', async () => {
    cluster.disturb = (_, response) => {
      response.writeHead(200).end(`${at(1).time} one\n${at(2).time} last words`);
      return true;
    };
    follow([sourceOf(1, { running: false })]);
    await until(() => seen.length === 2);
    expect(seen).to.deep.equal(['one', 'last words']);
  });

  it('listens for changes of its pod no longer than each reading takes', async () => {
    cluster.disturb = (_, response) => {
      refuse(response, 500, 'InternalError');
      return true;
    };
    follow([sourceOf(1)]);
    await until(() => cluster.asked.length > 5);
    expect(changes.filter(({ aborted }) => !aborted)).to.have.length.at.most(3);
  });

  it('goes on with the run that goes on where the log of the one before is gone', async () => {
    cluster.add('shop', 'a', [at(2)], { restarts: 1 });
    cluster.disturb = ({ searchParams }, response) => {
      if (!searchParams.has('previous')) return false;
      refuse(response, 404, 'NotFound');
      return true;
    };
    follow([sourceOf(1, { previous: true, running: false }), sourceOf(2)]);
    await until(() => seen.includes('line 2'));
    expect(cluster.asked).to.have.length(2);
  });

  it('follows a run that goes on, from the beginning, and only reads one that has ended', async () => {
    cluster.add('shop', 'a', [at(3)], { restarts: 1, previous: new KubeletLog([at(1), at(2)]) });
    follow([sourceOf(1, { previous: true, running: false }), sourceOf(2)], { begin: at(2).time });
    await until(() => seen.includes('line 3'));
    expect(seen).to.deep.equal(['line 2', 'line 3']);
    const asked = cluster.asked.map(({ searchParams: asked }) => [
      asked.get('follow'),
      asked.get('sinceTime'),
    ]);
    expect(asked).to.deep.equal([
      [null, '2026-01-01T00:00:02Z'],
      ['true', '2026-01-01T00:00:02Z'],
    ]);
  });

  it('tells why a kubelet gave no lines', async () => {
    cluster.disturb = (_, response) => {
      response.writeHead(200).end('failed to try resolving symlinks in path "/var/log/x"');
      return true;
    };
    const failed = Promise.withResolvers<string>();
    follow([sourceOf(1)], { onFailure: (_, { cause }) => failed.resolve(String(cause)) });
    expect(await failed.promise).to.include('failed to try resolving symlinks');
  });
});
