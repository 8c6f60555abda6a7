import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { Slots } from '../../../../../../../server/concurrency/slots.ts';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import type { LogSource } from '../../../../../../../server/logging/backends/kubernetes/pods/log-source.ts';
import { sourcesOf } from '../../../../../../../server/logging/backends/kubernetes/pods/source-selection.ts';
import type { OnLine } from '../../../../../../../server/logging/backends/kubernetes/reading/line-reader.ts';
import {
  LogReader,
  type ReadRequest,
} from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import { LogFailure } from '../../../../../../../server/logging/backends/kubernetes/reading/log-request.ts';
import { at } from '../instants.ts';
import { LogCluster } from '../log-cluster.ts';

const run = { id: 'one', startedAt: 0, finishedAt: undefined };
const container = { name: 'app', running: true, restarts: 0, current: run, previous: undefined };
const pod = { namespace: 'shop', name: 'a', uid: '', node: '', containers: [] };
const source = sourcesOf(pod, container)[0] as LogSource;

describe('the reading of a log', () => {
  const { signal } = new AbortController();
  let cluster: LogCluster;
  let reader: LogReader;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    reader = new LogReader({ client: cluster.connect(), slots: new Slots(1), turns: new Turns() });
  });

  afterEach(() => cluster.stop());

  const read = (request: Partial<ReadRequest>, onLine: OnLine = () => undefined, from = source) =>
    reader.read(from, { since: undefined, signal, ...request }, onLine);

  it('tells when the first of many lines was written, and whether it ended before the last', async () => {
    cluster.add('shop', 'a', [at(1), at(2), at(9)]);
    expect(await read({})).to.include({ first: at(1).time, lines: 3, hasPassed: false });
    const seen: string[] = [];
    const extent = await read({ until: () => at(4).time }, (_, text) => void seen.push(text));
    expect(extent).to.include({ first: at(1).time, lines: 2, hasPassed: true });
    expect(seen).to.deep.equal(['line 1', 'line 2']);
  });

  it('gives a line when the one before has been taken, however long that takes', async () => {
    cluster.add('shop', 'a', [at(1), at(2), at(3)]);
    const seen: string[] = [];
    await read({}, async (_, text) => {
      seen.push(`${text} comes`);
      await setImmediate();
      seen.push(`${text} is taken`);
    });
    const each = (line: number): string[] => [`line ${line} comes`, `line ${line} is taken`];
    expect(seen).to.deep.equal([...each(1), ...each(2), ...each(3)]);
  });

  it('fails with what whoever takes the lines throws, also when it takes a while', async () => {
    cluster.add('shop', 'a', [at(1), at(2)]);
    const failing = read({}, async () => {
      await setImmediate();
      throw new TypeError('no room');
    });
    expect(await failing.catch((error: unknown) => error)).to.be.instanceOf(TypeError);
  });

  it('fails with what whoever takes the lines throws, which is no fault of the kubelet', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const fault = new RangeError('no such line');
    const failure = await read({}, () => {
      throw fault;
    }).catch((error: unknown) => error);
    expect(failure).to.equal(fault);
  });

  it('looks once, and then waits, while there is no room for lines; and gives them when there is', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const [full, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let looks = 0;
    const room = (): Promise<void> | undefined => {
      asked.resolve();
      return looks++ === 0 ? full.promise : undefined;
    };
    const seen: string[] = [];
    const reading = read({ room }, (_, text) => void seen.push(text));
    await asked.promise;
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    expect([looks, seen]).to.deep.equal([1, []]);
    full.resolve();
    await reading;
    expect([looks, seen]).to.deep.equal([2, ['line 1']]);
  });

  it('gives no line to a caller who has left while there was no room', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const left = new AbortController();
    const full = Promise.withResolvers<void>();
    const seen: string[] = [];
    const room = (): Promise<void> => {
      left.abort(new Error('left'));
      full.resolve();
      return full.promise;
    };
    const reading = read({ room, signal: left.signal }, (_, text) => void seen.push(text));
    expect(await reading.catch((error: unknown) => error)).to.include({ message: 'left' });
    expect(seen).to.deep.equal([]);
  });

  it('asks a node again at once whose answer was cut, but not one that was silent', async () => {
    const onNode = { ...source, node: 'n' };
    cluster.add('shop', 'a', [at(1)]);
    cluster.disturb = (_, response) => {
      response.writeHead(200).write(`${at(1).time} line 1\n`, () => response.destroy());
      return true;
    };
    const kindOf = (): Promise<unknown> =>
      read({}, undefined, onNode).then(
        () => 'none',
        (error: unknown) => (error instanceof LogFailure ? error.kind : error),
      );
    expect(await kindOf()).to.equal('failed');
    cluster.disturb = () => false;
    expect(await kindOf()).to.equal('none');
    reader = new LogReader({
      client: cluster.connect(),
      slots: new Slots(1),
      turns: new Turns(),
      idleMs: 50,
    });
    cluster.disturb = (_, response) => {
      response.writeHead(200).write('\n');
      return true;
    };
    expect(await kindOf()).to.equal('silent');
    cluster.disturb = () => false;
    cluster.asked.length = 0;
    expect(await kindOf()).to.equal('failed');
    expect(cluster.asked).to.deep.equal([]);
  });

  it('keeps nobody waiting for a place who asks a node that is silent', async () => {
    const onNode = { ...source, node: 'n' };
    const slots = new Slots(1);
    cluster.disturb = () => true;
    reader = new LogReader({ client: cluster.connect(), slots, turns: new Turns(), idleMs: 20 });
    const silent: unknown = await read({}, undefined, onNode).catch((error: unknown) => error);
    expect(silent).to.include({ kind: 'silent' });
    using _taken = await slots.take(signal);
    const refused: unknown = await read({}, undefined, onNode).catch((error: unknown) => error);
    expect(refused).to.include({ kind: 'failed' });
  });

  it('reads the logs of callers in turns', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const request = { since: undefined, signal };
    const order: string[] = [];
    const readAs = async (caller: string): Promise<void> => {
      await reader.of(caller).read(source, request, () => undefined);
      order.push(caller);
    };
    await Promise.all(['mallory', 'mallory', 'mallory', 'mallory', 'jane'].map(readAs));
    expect(order).to.deep.equal(['mallory', 'mallory', 'jane', 'mallory', 'mallory']);
  });

  it('lets everything else run between two lines, however long what they are for takes', async () => {
    const lines = Array.from({ length: 30 }, (_, n) => at(n));
    cluster.add('shop', 'a', lines);
    // Every line uses up its slice.
    const turns = new Turns(0);
    reader = new LogReader({ client: cluster.connect(), slots: new Slots(1), turns });
    let others = 0;
    let isReading = true;
    const other = (): void => {
      others++;
      if (isReading) globalThis.setImmediate(other);
    };
    globalThis.setImmediate(other);
    const seen: { text: string; others: number }[] = [];
    await read({}, (_, text) => void seen.push({ text, others }));
    isReading = false;
    expect(seen.map(({ text }) => text)).to.deep.equal(lines.map(({ text }) => text));
    expect(new Set(seen.map((one) => one.others)).size).to.equal(30);
  });
});
