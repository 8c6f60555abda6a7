// History of the registers: what was written, and what each read returned. Each read is checked against the history.
//
// A register is a ConfigMap with one writer. Its states have consecutive numbers: a value is the number of its state, and
// other states are deletions. So the order of the states is known, and a read is linearizable if it returns no state that
// is older than a write that was acknowledged, or a state that was read, before the read began.

/** The register's value; undefined if it does not exist. */
export type Value = number | undefined;

/** The state of all registers at a revision. */
export interface Snapshot {
  readonly revision: number;
  readonly values: readonly Value[];
}

export interface Change {
  readonly type: string;
  readonly revision: number;
  readonly register: number;
  readonly value: Value;
}

/** Lower bounds for the result of a read, at its start. */
interface Begin {
  /** Numbers of states by register that a current read must have reached. */
  readonly current: readonly number[];
  /** The same for the writes of the caller through the gateway. */
  readonly own: readonly number[];
  readonly revision: number;
}

/** Events of one watch after `from`. `until`: the revision that the events are complete up to. */
interface WatchedChanges {
  readonly what: string;
  readonly from: number;
  readonly until: number;
  readonly changes: readonly Change[];
}

interface Register {
  /** Whether the register exists, by number of the state. */
  readonly exists: boolean[];
  /** The latest acknowledged state, or a later one that was read. */
  current: number;
  /** The latest state whose writer was the caller through the gateway. */
  own: number;
}

export class History {
  readonly violations: string[] = [];
  /** The highest revision that a response has shown. */
  revision = 0;
  events = 0;
  readonly #registers: readonly Register[];
  readonly #snapshots: { readonly what: string; readonly snapshot: Snapshot }[] = [];
  readonly #watches: WatchedChanges[] = [];
  readonly #gets: { readonly change: Omit<Change, 'type' | 'revision'>; readonly least: number }[] = [];

  constructor(registers: number) {
    this.#registers = Array.from({ length: registers }, () => ({ exists: [false], current: 0, own: 0 }));
  }

  exists(register: number): boolean {
    return this.#registers[register]?.exists.at(-1) ?? false;
  }

  /** Adds the next state, before the write is sent. Returns its number. */
  write(register: number, exists: boolean): number {
    return (this.#registers[register]?.exists.push(exists) ?? 0) - 1;
  }

  acknowledge(register: number, state: number, isOwn: boolean, revision: number): void {
    const known = this.#registers[register];
    if (!known) return;
    known.current = Math.max(known.current, state);
    if (isOwn) known.own = state;
    this.revision = Math.max(this.revision, revision);
  }

  begin(): Begin {
    return {
      current: this.#registers.map(({ current }) => current),
      own: this.#registers.map(({ own }) => own),
      revision: this.revision,
    };
  }

  /** Checks a list. `least`: its least states; `revision`: its least revision. */
  list(what: string, snapshot: Snapshot, least: readonly number[], revision: number): void {
    if (snapshot.revision < revision) this.fail(`${what}: revision ${snapshot.revision} after ${revision}`);
    snapshot.values.forEach((value, register) => this.value(what, register, value, least[register] ?? 0));
    this.revision = Math.max(this.revision, snapshot.revision);
    this.#snapshots.push({ what, snapshot });
  }

  /** Checks the value of one register. */
  value(what: string, register: number, value: Value, least: number): void {
    const known = this.#registers[register];
    if (!known) return;
    const state = value ?? known.exists.indexOf(false, least);
    if (state < 0 || known.exists[state] !== (value !== undefined))
      this.fail(`${what}: register ${register} was never ${value ?? `deleted after ${least}`}`);
    else if (state < least) this.fail(`${what}: register ${register} is ${state} after ${least}`);
    else known.current = Math.max(known.current, state);
  }

  /** A get of an existing register that is not older than the revision `least`. */
  get(register: number, value: number, least: number): void {
    this.#gets.push({ change: { register, value }, least });
  }

  watched(watch: WatchedChanges): void {
    this.events += watch.changes.length;
    this.#watches.push(watch);
  }

  /** Compares all lists, gets and watches with all changes, from the watch of kube-apiserver itself. */
  compare(changes: readonly Change[]): void {
    const values: Value[] = this.#registers.map(() => undefined);
    let next = 0;
    for (const { what, snapshot } of this.#snapshots.toSorted(
      (a, b) => a.snapshot.revision - b.snapshot.revision,
    )) {
      for (; (changes[next]?.revision ?? Number.POSITIVE_INFINITY) <= snapshot.revision; next++) {
        const change = changes[next];
        if (change) values[change.register] = change.value;
      }
      if (snapshot.values.join() !== values.join())
        this.fail(`${what}: [${snapshot.values.join()}] at ${snapshot.revision} was [${values.join()}]`);
    }
    for (const { what, from, until, changes: received } of this.#watches) {
      const start = lowerBound(changes, from + 1);
      const expected = changes.slice(start, lowerBound(changes, until + 1)).map(described);
      if (received.map(described).join() !== expected.join())
        this.fail(`${what} from ${from}: [${received.map(described).join()}], not [${expected.join()}]`);
    }
    const ends = new Map<string, number>();
    const last: Value[] = [];
    for (const { register, value, revision } of changes) {
      ends.set(`${register} ${last[register]}`, revision);
      last[register] = value;
    }
    for (const { change, least } of this.#gets) {
      const end = ends.get(`${change.register} ${change.value}`) ?? Number.POSITIVE_INFINITY;
      if (end <= least) this.fail(`get: ${change.value} ended at ${end}, before ${least}`);
    }
  }

  fail(violation: string): void {
    this.violations.push(violation);
  }
}

/** Index of the first change at the revision or later. */
function lowerBound(changes: readonly Change[], revision: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((changes[middle]?.revision ?? revision) < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

function described({ type, revision, register, value }: Change): string {
  return `${revision} ${type} ${register}=${value ?? 'deleted'}`;
}
