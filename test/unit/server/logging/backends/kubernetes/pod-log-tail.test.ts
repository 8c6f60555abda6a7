// Tests of live tails with the pod log store.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { MemoryBudget } from '../../../../../../server/logging/backends/kubernetes/line-memory.ts';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { refuse } from '../../../../../support/cluster/scripted-cluster.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { until, untilSteady } from '../../../../../support/until.ts';
import { at, call, everything } from './instants.ts';
import { KubeletLog } from './kubelet-log.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';
import { Tail } from './tail.ts';

const tuning = { initialBackoffMs: 5 };

describe('live tails of pod logs', () => {
  let cluster: LogCluster;
  let tail: Tail;

  afterEach(() => tail.end());
  clusterForEachTest((started) => (cluster = started));

  const follow = (selection?: Selection): Tail =>
    (tail = new Tail(cluster.store({}, { followTuning: tuning }), selection));

  it('sorts the backlog by time, although a request fails and another is interrupted', async () => {
    cluster.add('shop', 'quick', [at(1), at(3), at(5)]);
    const late = cluster.add('shop', 'late', [at(2), at(4), at(6)]);
    const { promise: askedAgain, resolve } = Promise.withResolvers<ServerResponse>();
    const answers = [(response: ServerResponse) => refuse(response, 500, 'InternalError'), resolve];
    cluster.disturb = ({ pathname }, response) =>
      pathname.includes('/late/') && answers.length > 0 && answers.shift()?.(response);
    const seen = follow().until('line 6');
    const response = await askedAgain;
    await untilSteady(() => tail.seen.length);
    expect(tail.seen).to.deep.equal([]);
    response.writeHead(200).write(`${at(2).time} line 2\n`, () => response.destroy());
    expect(await seen).to.deep.equal([1, 2, 3, 4, 5, 6].map((n) => `line ${n}`));
    late.append(at(7));
    expect((await tail.until('line 7')).length).to.equal(7);
  });

  it('merges backlogs that exceed the memory, with a filter', async () => {
    const [lines, pods] = [600, 7];
    for (let pod = 0; pod < pods; pod++) {
      const written = Array.from({ length: lines }, (_, n) =>
        at(n * pods + pod, `${(n * pods + pod) % 3 === 0 ? 'odd' : 'wanted'} ${'x'.repeat(2_000)}`),
      );
      cluster.add('shop', `pod-${pod}`, written);
    }
    const memory = new MemoryBudget(1 << 20);
    const store = cluster.store({}, { followTuning: tuning, memory });
    const times: string[] = [];
    let held = 0;
    const text = { mode: 'substring', texts: ['wanted'], caseSensitive: true } as const;
    for await (const batch of store.follow({ ...everything, text }, call)) {
      times.push(...batch.map(({ time }) => time));
      held = Math.max(held, memory.held);
      if (times.length === (lines * pods * 2) / 3) break;
    }
    const expected = Array.from({ length: lines * pods }, (_, n) => n).filter((n) => n % 3 !== 0);
    expect(times).to.deep.equal(expected.map((n) => at(n).time));
    // Half of the budget, and one chunk of each log.
    expect(held).to.be.below((1 << 19) + pods * 150_000);
    tail = new Tail(store);
  });

  it('stops waiting for a silent backlog after a time limit, and delivers its lines later', async () => {
    const silent = cluster.add('shop', 'silent', [at(1)]);
    cluster.add('shop', 'quick', [at(2)]);
    cluster.disturb = ({ pathname }) => pathname.includes('/silent/');
    tail = new Tail(cluster.store({}, { followTuning: { ...tuning, silenceMs: 100 } }));
    await tail.until('line 2');
    cluster.disturb = () => false;
    silent.append(at(3));
    await tail.until('line 3');
    expect(tail.seen).to.deep.equal(['line 2', 'line 1', 'line 3']);
  });

  it('follows new pods of the selection and of the permitted namespaces only', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const scope = { everything: false, namespaces: [{ name: 'shop', since: at(0).time }] } as const;
    await follow({ ...everything, scope, pods: { contains: ['a'] } }).until('line 1');
    cluster.add('shop', 'x', [at(2)]);
    cluster.add('bank', 'a', [{ time: '2100-01-01T00:00:00.000000000Z', text: 'secret' }]);
    cluster.add('shop', 'another', [at(3)]);
    expect(await tail.until('line 3')).to.deep.equal(['line 1', 'line 3']);
    expect(cluster.requests.map(({ pathname }) => pathname).join()).not.to.include('/bank/');
  });

  it('reopens an interrupted stream without gaps or duplicates of the same instant', async () => {
    const log = cluster.add('shop', 'a', [at(1), at(2, 'x', '000000001'), at(2, 'y', '000000001')]);
    await follow().until('y');
    log.cut();
    log.append(at(2, 'z', '000000001'), at(2, 'zz', '000000002'));
    expect(await tail.until('zz')).to.deep.equal(['line 1', 'x', 'y', 'z', 'zz']);
    log.cut();
    log.append(at(3));
    expect(await tail.until('line 3')).to.deep.equal(['line 1', 'x', 'y', 'z', 'zz', 'line 3']);
  });

  it('reopens an interrupted stream without gaps after lines out of order, or of a clock that is ahead', async () => {
    const log = cluster.add('shop', 'a', [at(1), at(5)]);
    // 45 seconds before the last line, and later before all lines.
    let now = Date.parse(at(60).time);
    const store = cluster.store({}, { followTuning: tuning, wallClock: () => now });
    tail = new Tail(store, { ...everything, range: { ...everything.range, start: at(0).time } });
    await tail.until('line 5');
    log.cut();
    log.append(at(4, 'late'), at(6), { ...at(0, 'forged'), time: '2036-01-01T00:00:00.123456789Z' });
    await tail.until('forged');
    log.cut();
    log.append(at(7));
    await tail.until('line 7');
    now = Date.parse(at(10).time);
    for (const second of [50, 51, 52]) {
      log.cut();
      log.append(at(second));
      await tail.until(`line ${second}`);
    }
    expect(tail.seen).to.deep.equal([
      'line 1',
      'line 5',
      'late',
      'line 6',
      'forged',
      'line 7',
      'line 50',
      'line 51',
      'line 52',
    ]);
  });

  it('follows a container once it starts', async () => {
    cluster.add('shop', 'a', [], { state: 'waiting' });
    cluster.add('shop', 'b', [at(1)]);
    await follow().until('line 1');
    cluster.add('shop', 'a', [at(2)]);
    expect(await tail.until('line 2')).to.deep.equal(['line 1', 'line 2']);
  });

  it('ends with an error when later containers exceed maxContainers', async () => {
    for (const pod of ['a', 'b']) cluster.add('shop', pod, [at(1)]);
    tail = new Tail(cluster.store({ maxContainers: 2 }));
    await tail.until('line 1');
    cluster.add('shop', 'c');
    const failure = await rejection(tail.until('never'));
    expect(failure)
      .to.include({ code: 400 })
      .and.to.match(/at most 2 containers/);
  });

  it('limits the followed logs of all callers', async () => {
    const log = cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b');
    const store = cluster.store({ followedLogs: 3 }, { followTuning: tuning });
    const first = new Tail(store);
    await first.until('line 1');
    tail = new Tail(store);
    expect(await rejection(tail.until('never'))).to.include({ code: 429 });
    await first.end();
    log.append(at(2));
    tail = new Tail(store);
    expect(await tail.until('line 2')).to.deep.equal(['line 1', 'line 2']);
  });

  it('lets one caller follow as many logs as it leaves free', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b');
    const store = cluster.store({ followedLogs: 8 }, { followTuning: tuning });
    const tails: Tail[] = [];
    const followedBy = (caller: string): Promise<unknown> => {
      tail = new Tail(store, everything, caller);
      tails.push(tail);
      return tail.until('line 1').catch((error: unknown) => error);
    };
    for (let n = 1; n <= 2; n++) expect(await followedBy('most')).to.deep.equal(['line 1']);
    expect(await followedBy('most')).to.include({ name: 'StatusError', code: 429 });
    expect(await followedBy('other')).to.deep.equal(['line 1']);
    await Promise.all(tails.map((each) => each.end()));
  });

  it('takes no read slot from queries while the client is slow', async () => {
    tail = new Tail(cluster.store());
    const lines = Array.from({ length: 2_000 }, (_, n) => at(n, `${n} ${'x'.repeat(4_000)}`));
    cluster.add('shop', 'long', lines, { state: 'terminated' });
    cluster.add('shop', 'a', [at(1)]);
    const store = cluster.store({ concurrentReads: 1 });
    const gone = new AbortController();
    const pods = (name: string) => ({ ...everything, pods: { exact: [name] } });
    const slow = store.follow(pods('long'), gone);
    expect((await slow.next()).done).to.equal(false);
    const page = await store.query(pods('a'), { order: 'asc', size: 1, from: 0 }, call);
    expect(page.total).to.deep.equal({ count: 1, relation: 'eq' });
    gone.abort();
    await Array.fromAsync(slow);
  });

  it('ends with 503 without a retry when the server is forbidden to read logs', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.disturb = (_, response) => refuse(response, 403, 'Forbidden');
    expect(await rejection(follow().until('never'))).to.include({ code: 503 });
    expect(cluster.requests).to.have.length(1);
  });

  it('follows a new pod of the same name instead of the old one', async () => {
    const first = cluster.add('shop', 'db-0', [at(1)]);
    await follow().until('line 1');
    // A stream that is requested later is that of the new pod.
    await until(() => first.followers === 1);
    const second = new KubeletLog([at(2)]);
    const containers = [{ name: 'app', log: second }];
    cluster.put({ namespace: 'shop', name: 'db-0', uid: 'uid-of-the-second', containers });
    await tail.until('line 2');
    first.end();
    second.append(at(3));
    expect(await tail.until('line 3')).to.deep.equal(['line 1', 'line 2', 'line 3']);
    expect(second.followers).to.equal(1);
  });

  it('delivers the lines of a new pod once if it replaces the old one while the log of that is requested', async () => {
    cluster.add('shop', 'db-0', [at(1)]);
    const second = new KubeletLog([at(2)]);
    const containers = [{ name: 'app', log: second }];
    cluster.disturb = () => {
      cluster.disturb = () => false;
      cluster.put({ namespace: 'shop', name: 'db-0', uid: 'uid-of-the-second', containers });
      return false;
    };
    await follow().until('line 2');
    await until(() => second.followers > 0);
    await untilSteady(() => second.followers);
    expect(second.followers).to.equal(1);
    second.append(at(3));
    expect(await tail.until('line 3')).to.deep.equal(['line 2', 'line 3']);
  });

  it('ends with 503 when kube-apiserver stays unreachable', async () => {
    cluster.add('shop', 'a', [at(1)]);
    tail = new Tail(cluster.store({}, { followTuning: { ...tuning, patienceMs: 50 } }));
    await tail.until('line 1');
    await cluster.goAway();
    expect(await rejection(tail.until('never'))).to.include({ code: 503 });
  });

  it('reopens a stream at once if it breaks after new lines', async () => {
    let lines = 0;
    cluster.add('shop', 'a');
    cluster.disturb = (_, response) => {
      const { time, text } = at(++lines);
      response.writeHead(200).write(`${time} ${text}\n`, () => response.destroy());
    };
    // Waits that double up to five seconds would take minutes.
    await follow().until('line 100');
  });

  it('backs off while the kubelet returns lines but cannot follow, without gaps', async () => {
    let lines = 0;
    cluster.add('shop', 'a');
    cluster.disturb = (_, response) => {
      const { time, text } = at(++lines);
      response.writeHead(200).end(`${time} ${text}\nfailed to create fsnotify watcher: too many open files`);
    };
    const seen = await follow().until('line 10');
    // The next waits are up to five seconds.
    await untilSteady(() => lines);
    expect(seen).to.deep.equal(Array.from({ length: 10 }, (_, index) => `line ${index + 1}`));
  });

  it('continues with the current run when the log of the previous run is deleted', async () => {
    cluster.add('shop', 'a', [at(2)], { restarts: 1, previous: new KubeletLog([at(1)]) });
    cluster.disturb = ({ searchParams }, response) =>
      searchParams.has('previous') && refuse(response, 404, 'NotFound');
    expect(await follow().until('line 2')).to.deep.equal(['line 2']);
  });
});
