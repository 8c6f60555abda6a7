// Workload of the consistency test: writers and readers of registers at random, through the gateway and at kube-apiserver.
import { setTimeout as delay } from 'node:timers/promises';
import { array, record, recordIn } from '../../apis/reading/unknown-value.ts';
import type { Client } from '../control-plane/client.ts';
import { Random } from '../log-data/random.ts';
import { Connection, type Reply } from './connection.ts';
import { type Change, History, type Snapshot, type Value } from './history.ts';
import { type Caller, changeOf, PATH, registerOf, revisionOf, tokensOf, valueOf } from './registers.ts';

interface Phase {
  readonly name: string;
  /** Minimum number of reads and writes. */
  readonly operations: number;
  /** Maximum pause of a writer between two writes, in ms. */
  readonly pauseMs: number;
  /** Called when the phase begins. */
  readonly begin?: () => void;
}

interface WorkloadOptions {
  /** The administrator at kube-apiserver. */
  readonly cluster: Client;
  readonly direct: string;
  readonly gateway: string;
  readonly ca: string;
  readonly phases: readonly Phase[];
  readonly seed: number;
  readonly signal: AbortSignal;
}

/** Numbers of reads and writes by verb and result. */
type Tally = Map<string, Map<string, number>>;

export interface PhaseReport {
  readonly name: string;
  readonly operations: number;
  readonly seconds: number;
  readonly tally: Tally;
}

interface WorkloadReport {
  readonly phases: readonly PhaseReport[];
  readonly violations: readonly string[];
  /** Number of events of watches that were compared. */
  readonly events: number;
}

const REGISTERS = 10;
const READERS = 24;
const WATCHERS = 4;
const SELECTOR = 'labelSelector=register';
const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
/** The last bookmark arrives two seconds before the end. */
const WATCH = 'watch=true&allowWatchBookmarks=true&timeoutSeconds=3';

export async function runWorkload(options: WorkloadOptions): Promise<WorkloadReport> {
  const workload = new Workload(options, await tokensOf(options.cluster));
  try {
    return await workload.run();
  } finally {
    workload.close();
  }
}

class Workload {
  readonly #options: WorkloadOptions;
  readonly #history = new History(REGISTERS);
  readonly #random: Random;
  readonly #direct: Connection;
  readonly #gateway: Readonly<Record<Caller, Connection>>;
  readonly #recent: number[] = [];
  #tally: Tally = new Map();
  #operations = 0;
  /** Ends the pauses of the writers. */
  #over = new AbortController();

  constructor(options: WorkloadOptions, tokens: Readonly<Record<Caller, string>>) {
    const { direct, gateway, ca, seed } = options;
    this.#options = options;
    this.#random = new Random(seed);
    this.#direct = new Connection(direct, ca, tokens.writer);
    this.#gateway = {
      writer: new Connection(gateway, ca, tokens.writer),
      reader: new Connection(gateway, ca, tokens.reader),
    };
  }

  close(): void {
    for (const connection of [this.#direct, ...Object.values(this.#gateway)]) connection.close();
  }

  async run(): Promise<WorkloadReport> {
    const history = this.#history;
    const first = JSON.parse((await this.#direct.send('GET', `${PATH}?${SELECTOR}`)).body);
    history.revision = revisionOf(first);
    this.#recent.push(history.revision);
    const ended = new AbortController();
    const all = this.#allChanges(history.revision, AbortSignal.any([ended.signal, this.#options.signal]));
    const phases: PhaseReport[] = [];
    for (const phase of this.#options.phases) phases.push(await this.#phase(phase));
    await this.#write(0, 0);
    const last = history.revision;
    while ((all.at(-1)?.revision ?? 0) < last) await delay(20, undefined, { signal: this.#options.signal });
    ended.abort();
    history.compare(all);
    return { phases, violations: history.violations, events: history.events };
  }

  async #phase({ name, operations, pauseMs, begin }: Phase): Promise<PhaseReport> {
    begin?.();
    this.#tally = new Map();
    this.#operations = 0;
    this.#over = new AbortController();
    const began = performance.now();
    const repeat = async (work: () => Promise<void>): Promise<void> => {
      while (this.#operations < operations) {
        this.#options.signal.throwIfAborted();
        await work();
      }
      this.#over.abort();
    };
    await Promise.all([
      ...Array.from({ length: REGISTERS }, (_, register) => repeat(() => this.#write(register, pauseMs))),
      ...Array.from({ length: READERS }, () => repeat(() => this.#read())),
      ...Array.from({ length: WATCHERS }, () => repeat(() => this.#watch())),
    ]);
    const seconds = (performance.now() - began) / 1000;
    return { name, operations: this.#operations, seconds, tally: this.#tally };
  }

  /** Fills the returned array with all changes after the revision. */
  #allChanges(revision: number, signal: AbortSignal): Change[] {
    const all: Change[] = [];
    void (async () => {
      const query = `watch=true&timeoutSeconds=7200&resourceVersion=${revision}&${SELECTOR}`;
      const { lines } = await this.#direct.stream(`${PATH}?${query}`, signal);
      for await (const line of lines) all.push(changeOf(JSON.parse(line)));
      if (!signal.aborted) this.#history.fail('the watch of all changes ended');
    })();
    return all;
  }

  async #write(register: number, pauseMs: number): Promise<void> {
    const history = this.#history;
    const isOwn = this.#random.chance(0.5);
    const connection = isOwn ? this.#gateway.writer : this.#direct;
    const existed = history.exists(register);
    const deletes = existed && this.#random.chance(0.15);
    const state = history.write(register, !deletes);
    const path = existed ? `${PATH}/register-${register}` : PATH;
    const body = {
      metadata: { name: `register-${register}`, labels: { register: '' } },
      data: { value: String(state) },
    };
    const reply = deletes
      ? await connection.send('DELETE', path)
      : await connection.send(existed ? 'PUT' : 'POST', path, body);
    this.#count(isOwn ? 'write through the gateway' : 'write', reply);
    if (reply.status >= 300) history.fail(`a write failed: ${reply.status} ${reply.body}`);
    history.acknowledge(register, state, isOwn, deletes ? 0 : revisionOf(JSON.parse(reply.body)));
    if (pauseMs === 0) return;
    await delay(this.#random.below(pauseMs), undefined, { signal: this.#over.signal }).catch(() => undefined);
  }

  async #read(): Promise<void> {
    const history = this.#history;
    const began = history.begin();
    const kind = this.#random.below(10);
    if (kind < 5) return this.#list('reader', 'list, current', '', began.current, began.revision);
    if (kind === 5) return this.#list('reader', 'list, any', 'resourceVersion=0', [], 0);
    // The caller has written through the gateway, so it must read its writes.
    if (kind === 6) return this.#list('writer', 'list, own writes', 'resourceVersion=0', began.own, 0);
    const { revision } = history;
    const notOlder = `resourceVersion=${revision}`;
    if (kind < 9) return this.#list('reader', 'list, not older', notOlder, [], revision);
    const register = this.#random.below(REGISTERS);
    const reply = await this.#gateway.reader.send('GET', `${PATH}/register-${register}?${notOlder}`);
    this.#count('get, not older', reply);
    if (reply.status === 404) return history.value('get', register, undefined, 0);
    if (reply.status !== 200) return history.fail(`get: ${reply.status} ${reply.body}`);
    const value = valueOf(JSON.parse(reply.body));
    history.value('get', register, value, 0);
    history.get(register, value, revision);
  }

  async #list(
    caller: Caller,
    what: string,
    query: string,
    least: readonly number[],
    revision: number,
  ): Promise<void> {
    const selector = this.#random.chance(0.5) ? SELECTOR : '';
    const reply = await this.#gateway[caller].send(
      'GET',
      `${PATH}?${[selector, query].filter(Boolean).join('&')}`,
    );
    this.#count(what, reply);
    if (reply.status !== 200) return this.#history.fail(`${what}: ${reply.status} ${reply.body}`);
    const list = record(JSON.parse(reply.body));
    const values = Array.from({ length: REGISTERS }, (): Value => undefined);
    for (const item of array(list['items'])) {
      const register = registerOf(item);
      // Each namespace has another ConfigMap: kube-root-ca.crt.
      if (register !== undefined) values[register] = valueOf(item);
    }
    this.#listed(`${what} (${reply.result})`, { revision: revisionOf(list), values }, least, revision);
  }

  #listed(what: string, snapshot: Snapshot, least: readonly number[], revision: number): void {
    this.#history.list(what, snapshot, least, revision);
    this.#recent.push(snapshot.revision);
    if (this.#recent.length > 100) this.#recent.shift();
  }

  /** A watch with initial events, or a watch from a recent revision. */
  async #watch(): Promise<void> {
    const history = this.#history;
    const began = history.begin();
    const initial = this.#random.chance(0.5);
    const recent = this.#random.pick(this.#recent);
    const verb = initial ? 'watch, initial events' : 'watch, from a version';
    const query = `${SELECTOR}&${WATCH}&${initial ? INITIAL : `resourceVersion=${recent}`}`;
    const { status, result, lines } = await this.#gateway.reader.stream(
      `${PATH}?${query}`,
      this.#options.signal,
    );
    this.#count(verb, { result });
    if (status !== 200) {
      for await (const _ of lines);
      // The revision is too old.
      if (status !== 410) history.fail(`${verb}: ${status}`);
      return;
    }
    const what = `${verb} (${result})`;
    const values = Array.from({ length: REGISTERS }, (): Value => undefined);
    const changes: Change[] = [];
    let from = initial ? undefined : recent;
    let until = recent;
    for await (const line of lines) {
      const event = record(JSON.parse(line));
      const object = recordIn(event, 'object');
      if (event['type'] === 'ERROR') {
        if (object['code'] !== 410) history.fail(`${what}: ${line}`);
        break;
      }
      const isBookmark = event['type'] === 'BOOKMARK';
      until = revisionOf(object);
      if (from === undefined && isBookmark) {
        from = until;
        this.#listed(what, { revision: until, values: [...values] }, began.current, began.revision);
      } else if (!isBookmark) {
        const change = changeOf(event);
        if (from === undefined) values[change.register] = change.value;
        else changes.push(change);
      }
    }
    if (from !== undefined) history.watched({ what, from, until, changes });
  }

  #count(verb: string, { result }: Pick<Reply, 'result'>): void {
    this.#operations++;
    const results = this.#tally.get(verb) ?? new Map<string, number>();
    results.set(result, (results.get(result) ?? 0) + 1);
    this.#tally.set(verb, results);
  }
}
