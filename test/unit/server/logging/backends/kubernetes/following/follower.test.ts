import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { pino } from 'pino';
import { Slots } from '../../../../../../../server/concurrency/slots.ts';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import { FollowQuota } from '../../../../../../../server/logging/backends/kubernetes/following/follow-quota.ts';
import { Follower } from '../../../../../../../server/logging/backends/kubernetes/following/follower.ts';
import { PodIndex } from '../../../../../../../server/logging/backends/kubernetes/pods/pod-index.ts';
import { LogReader } from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import type { LogRecord } from '../../../../../../../server/logging/log-store.ts';
import { LongLines } from '../../../../../../../server/logging/matching/long-lines.ts';
import { until } from '../../../../../../support/until.ts';
import { WorkPerTurn } from '../../../../../../support/work-per-turn.ts';
import { at, everything } from '../instants.ts';
import { LogCluster } from '../log-cluster.ts';

/** A pod that restarted once, in the third second. */
const restarted = (name: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      metadata: { namespace: 'shop', name, uid: `uid-${name}` },
      status: {
        containerStatuses: [
          {
            name: 'app',
            restartCount: 1,
            containerID: 'containerd://2',
            state: { running: { startedAt: '2026-01-01T00:00:03Z' } },
            lastState: {
              terminated: {
                containerID: 'containerd://1',
                startedAt: '2026-01-01T00:00:00Z',
                finishedAt: '2026-01-01T00:00:02Z',
              },
            },
          },
        ],
      },
    }),
  );

describe('the follower of a selection', () => {
  const begin = at(3600);
  let cluster: LogCluster;
  let pods: PodIndex;
  let leaving: AbortController;
  let seen: string[];
  let reading: Promise<void>;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    [pods, leaving, seen, reading] = [new PodIndex(), new AbortController(), [], Promise.resolve()];
  });

  afterEach(async () => {
    leaving.abort();
    await reading;
    await cluster.stop();
  });

  const list = (...names: readonly string[]): void => {
    const all = pods.replacement();
    for (const name of names) all.add(restarted(name));
    all.commit('1');
  };

  /** From `begin` on, so many ms after it. */
  const records = (afterMs: number): AsyncGenerator<readonly LogRecord[], void, undefined> => {
    const client = cluster.connect();
    const memory = new MemoryBudget(1 << 20);
    return new Follower({
      client,
      reader: new LogReader({ client, slots: new Slots(1), turns: new Turns() }),
      pods,
      selection: { ...everything, range: { ...everything.range, start: begin.time } },
      longLines: new LongLines({ log: pino({ enabled: false }) }),
      quota: new FollowQuota({ followedLogs: 10, maxContainers: 10 }).of(),
      memory: memory.share(),
      unfinished: () => memory.share(),
      onFailure: () => undefined,
      wallClock: () => Date.parse(begin.time) + afterMs,
      tuning: { initialBackoffMs: 5 },
    }).records(leaving.signal);
  };

  const follow = (afterMs: number): void => {
    reading = (async () => {
      for await (const batch of records(afterMs)) seen.push(...batch.map(({ log }) => log));
    })();
  };

  for (const [afterMs, which, follows] of [
    [2_000, 'no older', ['true']],
    [2_001, 'older', [null, 'true']],
  ] as const) {
    it(`reads what is ${which} than two seconds in ${follows.length === 1 ? 'one request' : 'a request of its own'}`, async () => {
      const log = cluster.add('shop', 'a', [begin]);
      list('a');
      follow(afterMs);
      await until(() => log.followers === 1 && seen.length === 1);
      expect(cluster.asked.map(({ searchParams }) => searchParams.get('follow'))).to.deep.equal(follows);
    });
  }

  it('waits for the backlogs of the pods that there were, not for those of one that comes', async () => {
    const log = cluster.add('shop', 'a', [begin]);
    list('a');
    follow(60_000);
    await until(() => log.followers === 1 && seen.length === 1);
    cluster.disturb = ({ pathname }) => pathname.includes('/silent/');
    pods.apply('ADDED', restarted('silent'));
    await until(() => cluster.asked.some(({ pathname }) => pathname.includes('/silent/')));
    log.append(at(3601));
    await until(() => seen.length === 2);
    const asked = cluster.asked.filter(({ pathname }) => pathname.includes('/silent/'));
    expect(asked.map(({ searchParams }) => searchParams.get('follow'))).to.deep.equal(['true']);
  });

  it('looks at all pods anew, and for those that are gone, when they are listed anew', async () => {
    const [a, b] = [cluster.add('shop', 'a', [begin]), cluster.add('shop', 'b', [at(3602)])];
    list('a');
    follow(0);
    await until(() => a.followers === 1);
    list('b');
    await until(() => b.followers === 1);
    a.end();
    await until(() => seen.length === 2);
    const asked = cluster.asked.length;
    a.append(at(3603));
    b.append(at(3604));
    await until(() => seen.includes('line 3604'));
    expect(seen).to.deep.equal(['line 3600', 'line 3602', 'line 3604']);
    expect(cluster.asked).to.have.length(asked);
  });

  it('lets everything else run while it looks at very many pods, when it begins and when they are listed anew', async () => {
    const work = new WorkPerTurn();
    let looked = 0;
    pods.podsOf = function* () {
      for (; looked % 100 < 99; looked++) {
        // About as long as a thousand pods take.
        for (const began = performance.now(); performance.now() - began < 1; );
        work.note();
        yield { namespace: 'shop', name: 'p', uid: '', node: '', containers: [] };
      }
      looked++;
    };
    list('a');
    follow(0);
    await until(() => looked === 100);
    list('a');
    await until(() => looked === 200);
    expect(work.most).to.be.below(50);
  });

  it('leaves nothing behind with whom it follows for, and with the pods, when the reader stops', async () => {
    const onChange = pods.onChange.bind(pods);
    let listeners = 0;
    pods.onChange = (listener) => {
      listeners++;
      const stop = onChange(listener);
      return () => {
        listeners--;
        stop();
      };
    };
    cluster.add('shop', 'a', [begin]);
    list('a');
    const following = records(0);
    expect((await following.next()).value).to.have.length(1);
    expect(listeners).to.be.above(0);
    await following.return();
    expect(listeners).to.equal(0);
    expect(getEventListeners(leaving.signal, 'abort')).to.deep.equal([]);
    await until(() => cluster.openReads === 0);
  });
});
