import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { MemoryBudget } from '../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import type { LogRecord, Selection } from '../../../../../../server/logging/log-store.ts';
import { refuse } from '../../../../../support/cluster/scripted-cluster.ts';
import { until } from '../../../../../support/until.ts';
import { at, everything } from './instants.ts';
import { KubeletLog } from './kubelet-log.ts';
import { LogCluster } from './log-cluster.ts';

/** Reads until the line has come, and returns the texts of all lines up to there. */
class Reading {
  readonly #gone = new AbortController();
  readonly #batches: AsyncGenerator<readonly LogRecord[], void, undefined>;
  readonly seen: string[] = [];

  constructor(store: KubernetesLogStore, selection: Selection = everything, caller = 'alice') {
    this.#batches = store.follow(selection, { signal: this.#gone.signal, caller });
  }

  async until(text: string): Promise<string[]> {
    while (!this.seen.includes(text)) {
      const next = await this.#batches.next();
      if (next.done) throw new Error(`ended before ${text}`);
      this.seen.push(...next.value.map(({ log }) => log));
    }
    return this.seen;
  }

  async end(): Promise<void> {
    const ended = this.#batches.next();
    this.#gone.abort();
    for (let next = await ended; !next.done; ) next = await this.#batches.next();
  }
}

const tuning = { initialBackoffMs: 5 };

describe('following pod logs', () => {
  let cluster: LogCluster;
  let reading: Reading;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
  });

  afterEach(async () => {
    await reading.end();
    await cluster.stop();
  });

  const follow = (selection?: Selection): Reading =>
    (reading = new Reading(cluster.store({}, { followTuning: tuning }), selection));
  /** For what only begins when nobody waits for last words any more. */
  const followHastily = (): Reading =>
    (reading = new Reading(cluster.store({}, { followTuning: { ...tuning, lastWordsMs: 20 } })));

  it('gives what was written since the beginning, and then what comes, of all pods', async () => {
    const [a, b] = [cluster.add('shop', 'a', [at(1), at(2)]), cluster.add('shop', 'b')];
    const range = { ...everything.range, start: at(2).time };
    expect(await follow({ ...everything, range }).until('line 2')).to.deep.equal(['line 2']);
    a.append(at(3));
    await reading.until('line 3');
    b.append(at(4));
    expect(await reading.until('line 4')).to.deep.equal(['line 2', 'line 3', 'line 4']);
  });

  it('gives the backlog in the order of time, however late a kubelet answers', async () => {
    cluster.add('shop', 'quick', [at(1), at(3), at(5)]);
    const late = cluster.add('shop', 'late', [at(2), at(4)]);
    const { promise: asked, resolve } = Promise.withResolvers<() => void>();
    cluster.disturb = ({ pathname, searchParams }, response) => {
      if (!pathname.includes('/late/')) return false;
      resolve(() => late.serve(searchParams, response, true));
      cluster.disturb = () => false;
      return true;
    };
    const seen = follow().until('line 5');
    const answer = await asked;
    // The other has been read, and more time has passed than lines are gathered for.
    await until(() => cluster.asked.some(({ searchParams }) => searchParams.get('follow') === 'true'));
    await delay(100);
    expect(reading.seen).to.deep.equal([]);
    answer();
    expect(await seen).to.deep.equal([1, 2, 3, 4, 5].map((n) => `line ${n}`));
    late.append(at(6));
    expect((await reading.until('line 6')).length).to.equal(6);
  });

  it('gives the backlog in the order of time, also of a log that is first refused and then cut', async () => {
    cluster.add('shop', 'quick', [at(1), at(3), at(5)]);
    const late = cluster.add('shop', 'late', [at(2), at(4), at(6)]);
    const { promise: askedAgain, resolve } = Promise.withResolvers<ServerResponse>();
    const answers = [(response: ServerResponse) => refuse(response, 500, 'InternalError'), resolve];
    cluster.disturb = ({ pathname }, response) => {
      const answer = pathname.includes('/late/') ? answers.shift() : undefined;
      answer?.(response);
      return answer !== undefined;
    };
    const seen = follow().until('line 6');
    const response = await askedAgain;
    // More time has passed than lines are gathered for.
    await delay(100);
    expect(reading.seen).to.deep.equal([]);
    response.writeHead(200).write(`${at(2).time} line 2\n`, () => response.destroy());
    expect(await seen).to.deep.equal([1, 2, 3, 4, 5, 6].map((n) => `line ${n}`));
    late.append(at(7));
    expect((await reading.until('line 7')).length).to.equal(7);
  });

  it('waits for nobody who has not finished a line, and gives it when it is', async () => {
    const log = cluster.add('shop', 'prompt', [at(1)]);
    cluster.add('shop', 'quick', [at(2)]);
    cluster.disturb = ({ pathname, searchParams }, response) => {
      if (!pathname.includes('/prompt/') || searchParams.get('follow') === 'true') return false;
      response.writeHead(200).end(`${at(1).time} line 1\n${at(3).time} li`);
      return true;
    };
    const begin = performance.now();
    await follow().until('line 2');
    expect(performance.now() - begin).to.be.below(2_000);
    log.append(at(3));
    expect(await reading.until('line 3')).to.deep.equal(['line 1', 'line 2', 'line 3']);
  });

  it('merges backlogs that are larger than what it may hold, of lines that do not all match', async () => {
    const [lines, pods] = [600, 7];
    for (let pod = 0; pod < pods; pod++) {
      const written = Array.from({ length: lines }, (_, n) =>
        at(n * pods + pod, `${(n * pods + pod) % 3 === 0 ? 'odd' : 'wanted'} ${'x'.repeat(2_000)}`),
      );
      cluster.add('shop', `pod-${pod}`, written);
    }
    const memory = new MemoryBudget(1 << 20);
    const store = cluster.store({}, { followTuning: tuning, memory });
    const gone = new AbortController();
    const times: string[] = [];
    let held = 0;
    const text = { mode: 'substring', texts: ['wanted'], caseSensitive: true } as const;
    for await (const batch of store.follow({ ...everything, text }, gone)) {
      times.push(...batch.map(({ time }) => time));
      held = Math.max(held, memory.held);
      if (times.length === (lines * pods * 2) / 3) break;
    }
    const expected = Array.from({ length: lines * pods }, (_, n) => n).filter((n) => n % 3 !== 0);
    expect(times).to.deep.equal(expected.map((n) => at(n).time));
    // Half of all for one alone, and what one reading of each log brings.
    expect(held).to.be.below((1 << 19) + pods * 150_000);
    reading = new Reading(store);
  });

  it('does not wait for ever for the backlog of a kubelet that is silent, and has its lines when it answers', async () => {
    const silent = cluster.add('shop', 'silent', [at(1)]);
    cluster.add('shop', 'quick', [at(2)]);
    cluster.disturb = ({ pathname }) => pathname.includes('/silent/');
    reading = new Reading(cluster.store({}, { followTuning: { ...tuning, silenceMs: 100 } }));
    await reading.until('line 2');
    cluster.disturb = () => false;
    silent.append(at(3));
    await reading.until('line 3');
    expect(reading.seen).to.deep.equal(['line 2', 'line 1', 'line 3']);
  });

  it('picks up pods that come, and only those of the selection', async () => {
    cluster.add('shop', 'a', [at(1)]);
    await follow({ ...everything, pods: { contains: ['a'] } }).until('line 1');
    cluster.add('shop', 'x', [at(2)]);
    cluster.add('shop', 'another', [at(3)]);
    expect(await reading.until('line 3')).to.deep.equal(['line 1', 'line 3']);
  });

  it('goes on where it was when the stream breaks, without losing or repeating lines of the same instant', async () => {
    const log = cluster.add('shop', 'a', [at(1), at(2, 'x', '000000001'), at(2, 'y', '000000001')]);
    await follow().until('y');
    log.cut();
    log.append(at(2, 'z', '000000001'), at(2, 'zz', '000000002'));
    expect(await reading.until('zz')).to.deep.equal(['line 1', 'x', 'y', 'z', 'zz']);
    log.cut();
    log.append(at(3));
    expect(await reading.until('line 3')).to.deep.equal(['line 1', 'x', 'y', 'z', 'zz', 'line 3']);
  });

  it('survives that the stream ends and the kubelet has begun a new file', async () => {
    const log = cluster.add('shop', 'a', [at(1), at(2, 'a', '000000001')]);
    await follow().until('a');
    log.rotate();
    log.end();
    log.append(at(2, 'b', '000000002'), at(3));
    expect(await reading.until('line 3')).to.deep.equal(['line 1', 'a', 'b', 'line 3']);
  });

  it('reads the rest of a run that has ended, and then the next run', async () => {
    const log = cluster.add('shop', 'a', [at(1), at(2)]);
    // It comes back when the cluster has told of the next run, and not before.
    reading = new Reading(cluster.store({}, { followTuning: { initialBackoffMs: 10_000 } }));
    await reading.until('line 2');
    await until(() => log.followers === 1);
    log.cut();
    log.append(at(3, 'last words'));
    const next = new KubeletLog([at(5)]);
    cluster.put({
      namespace: 'shop',
      name: 'a',
      containers: [{ name: 'app', log: next, previous: log, restarts: 1, startedAt: at(4).time }],
    });
    expect(await reading.until('line 5')).to.deep.equal(['line 1', 'line 2', 'last words', 'line 5']);
  });

  it('gives the rest of a run although the next one has begun before the cluster told of it', async () => {
    const log = cluster.add('shop', 'a', [at(1, 'one')]);
    await followHastily().until('one');
    const [container] = cluster.pods.get('shop/a')?.containers ?? [];
    if (!container) throw new Error('no container');
    // The connection breaks, more is written, and the container starts anew: only the kubelet knows.
    log.cut();
    log.lines.push(at(1, 'one more'), at(2, 'two'));
    const next = new KubeletLog([at(10, 'ten')]);
    Object.assign(container, { log: next, previous: log });
    await reading.until('ten');
    cluster.add('shop', 'a', [], { log: next, previous: log, restarts: 1, startedAt: at(10).time });
    await reading.until('two');
    await until(() => next.followers === 1);
    next.append(at(11, 'eleven'));
    await reading.until('eleven');
    expect(reading.seen.toSorted()).to.deep.equal(['eleven', 'one', 'one more', 'ten', 'two'].toSorted());
  });

  it('ends quietly for a pod that is deleted, and goes on for the others', async () => {
    const log = cluster.add('shop', 'a', [at(1)]);
    const other = cluster.add('shop', 'b');
    await follow().until('line 1');
    cluster.remove('shop', 'a');
    log.end();
    other.append(at(2));
    expect(await reading.until('line 2')).to.deep.equal(['line 1', 'line 2']);
  });

  it('ends with the pod, whether or not the kubelet ends the stream', async () => {
    const log = cluster.add('shop', 'a', [at(1)]);
    const other = cluster.add('shop', 'b');
    await followHastily().until('line 1');
    cluster.remove('shop', 'a');
    await until(() => log.followers === 0);
    log.append(at(2));
    other.append(at(3));
    expect(await reading.until('line 3')).to.deep.equal(['line 1', 'line 3']);
  });

  it('waits for a container that has not started', async () => {
    cluster.add('shop', 'a', [], { state: 'waiting' });
    cluster.add('shop', 'b', [at(1)]);
    await follow().until('line 1');
    cluster.add('shop', 'a', [at(2)]);
    expect(await reading.until('line 2')).to.deep.equal(['line 1', 'line 2']);
  });

  it('closes every stream when the caller goes away', async () => {
    const logs = ['a', 'b', 'c'].map((pod) => cluster.add('shop', pod, [at(1, pod)]));
    follow();
    for (const pod of ['a', 'b', 'c']) await reading.until(pod);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    await reading.end();
    const look = (): void => {
      if (logs.every(({ followers }) => followers === 0)) resolve();
      else setImmediate(look);
    };
    look();
    await closed;
  });

  it('refuses to follow more containers than it may', async () => {
    for (const pod of ['a', 'b', 'c']) cluster.add('shop', pod);
    reading = new Reading(cluster.store({ maxContainers: 2 }));
    const failure = await reading.until('never').catch((error: unknown) => error);
    expect(failure).to.include({ name: 'StatusError', code: 400 });
  });

  it('ends, and says why, when containers come that are more than it may follow', async () => {
    for (const pod of ['a', 'b']) cluster.add('shop', pod, [at(1)]);
    reading = new Reading(cluster.store({ maxContainers: 2 }));
    await reading.until('line 1');
    cluster.add('shop', 'c');
    const failure = await reading.until('never').catch((error: unknown) => error);
    expect(failure).to.include({ name: 'StatusError', code: 400 });
    expect(failure).to.match(/more than 2 containers/);
  });

  it('keeps no place for containers that ended before the beginning', async () => {
    for (const pod of ['a', 'b', 'c']) cluster.add('shop', pod, [at(1)], { state: 'terminated' });
    const log = cluster.add('shop', 'd', [at(3600)]);
    reading = new Reading(cluster.store({ maxContainers: 1 }, { followTuning: tuning }), {
      ...everything,
      range: { ...everything.range, start: at(3600).time },
    });
    await reading.until('line 3600');
    log.append(at(3601));
    expect(await reading.until('line 3601')).to.deep.equal(['line 3600', 'line 3601']);
  });

  it('lets all callers together follow no more logs than they may', async () => {
    const log = cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b');
    const store = cluster.store({ followedLogs: 3 }, { followTuning: tuning });
    const first = new Reading(store);
    await first.until('line 1');
    reading = new Reading(store);
    const failure = await reading.until('never').catch((error: unknown) => error);
    expect(failure).to.include({ name: 'StatusError', code: 429 });
    await first.end();
    log.append(at(2));
    reading = new Reading(store);
    expect(await reading.until('line 2')).to.deep.equal(['line 1', 'line 2']);
  });

  it('leaves some of the logs that may be followed to others than the caller who follows most of them', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b');
    const store = cluster.store({ followedLogs: 8 }, { followTuning: tuning });
    const readings: Reading[] = [];
    const followedBy = (caller: string): Promise<unknown> => {
      reading = new Reading(store, everything, caller);
      readings.push(reading);
      return reading.until('line 1').catch((error: unknown) => error);
    };
    for (let tail = 1; tail <= 3; tail++) expect(await followedBy('most')).to.deep.equal(['line 1']);
    expect(await followedBy('most')).to.include({ name: 'StatusError', code: 429 });
    expect(await followedBy('other')).to.deep.equal(['line 1']);
    await readings.shift()?.end();
    expect(await followedBy('most')).to.deep.equal(['line 1']);
    await Promise.all(readings.map((each) => each.end()));
  });

  it('at the pace of a slow reader keeps no place that queries need, not even for a log that has ended', async () => {
    reading = new Reading(cluster.store());
    const lines = Array.from({ length: 2_000 }, (_, n) => at(n, `${n} ${'x'.repeat(4_000)}`));
    cluster.add('shop', 'long', lines, { state: 'terminated' });
    cluster.add('shop', 'a', [at(1)]);
    const store = cluster.store({ concurrentReads: 1 });
    const gone = new AbortController();
    const pods = (name: string) => ({ ...everything, pods: { exact: [name] } });
    const slow = store.follow(pods('long'), gone);
    expect((await slow.next()).done).to.equal(false);
    const page = await store.query(
      pods('a'),
      { order: 'asc', size: 1, from: 0 },
      { signal: gone.signal, timeoutMs: 20_000 },
    );
    expect(page.shortfalls).to.deep.equal([]);
    expect(page.total).to.deep.equal({ count: 1, relation: 'eq' });
    gone.abort();
    for (let next = await slow.next(); !next.done; ) next = await slow.next();
  });

  it('begins within a second, though kubelets know only whole ones', async () => {
    const half = at(2, 'behind it', '500000000');
    const log = cluster.add('shop', 'a', [at(1), at(2, 'before it'), half]);
    const range = { ...everything.range, start: half.time };
    const seen = follow({ ...everything, range }).until('line 3');
    log.append(at(3));
    expect(await seen).to.deep.equal(['behind it', 'line 3']);
  });

  it('ends when no log may be read, which no retry would change', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.disturb = (_, response) => {
      refuse(response, 403, 'Forbidden');
      return true;
    };
    const failure = await follow()
      .until('never')
      .catch((error: unknown) => error);
    expect(failure).to.include({ name: 'StatusError', code: 503 });
    expect(cluster.asked).to.have.length(1);
  });

  it('goes on with the pod that has taken the name of another, and not with that one', async () => {
    const first = cluster.add('shop', 'db-0', [at(1)]);
    await followHastily().until('line 1');
    const second = new KubeletLog([at(2)]);
    cluster.put({
      namespace: 'shop',
      name: 'db-0',
      uid: 'uid-of-the-second',
      containers: [{ name: 'app', log: second }],
    });
    await reading.until('line 2');
    await until(() => first.followers === 0);
    second.append(at(3));
    expect(await reading.until('line 3')).to.deep.equal(['line 1', 'line 2', 'line 3']);
    expect(second.followers).to.equal(1);
  });

  it('is unavailable when kube-apiserver stays away', async () => {
    cluster.add('shop', 'a', [at(1)]);
    reading = new Reading(cluster.store({}, { followTuning: { ...tuning, patienceMs: 50 } }));
    await reading.until('line 1');
    await cluster.goAway();
    const failure = await reading.until('never').catch((error: unknown) => error);
    expect(failure).to.include({ name: 'StatusError', code: 503 });
  });
});
