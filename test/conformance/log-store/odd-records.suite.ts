// Conformance tests of log stores: incomplete and unusual log records. Every operation must include each permitted log
// record exactly once.
import { expect } from 'chai';
import { instantOf } from '../../../server/logging/store/instant.ts';
import type { LogBackend, LogRecord, Order, Selection } from '../../../server/logging/store/log-store.ts';

export interface StartedOddStore {
  readonly store: LogBackend;
  /** Adds documents; resolves when they are searchable. */
  write(documents: readonly object[]): Promise<void>;
  stop(): Promise<void>;
}

type Names = readonly [namespace: string, pod: string, container: string];

interface OddRecord {
  readonly members: object;
  readonly names: Names;
  readonly log: string;
}

const WHOLE = { namespace_name: 'web', pod_name: 'web-1', container_name: 'app', docker_id: 'one' };
const APP: Names = ['web', 'web-1', 'app'];
const NO_NAMES: Names = ['', '', ''];

function named(kubernetes: unknown, names: Names): OddRecord {
  const log = `a line of ${JSON.stringify(kubernetes)}`;
  return { members: { log, kubernetes }, names, log };
}

const ODD: readonly OddRecord[] = [
  // The first document defines the dynamic mapping.
  named(WHOLE, APP),
  { members: { log: 'a line alone' }, names: NO_NAMES, log: 'a line alone' },
  named(null, NO_NAMES),
  named({}, NO_NAMES),
  named({ namespace_name: null, pod_name: null, container_name: null }, NO_NAMES),
  named({ namespace_name: '', pod_name: '', container_name: '' }, NO_NAMES),
  named({ namespace_name: 'web' }, ['web', '', '']),
  named({ pod_name: 'web-1', container_name: 'app' }, ['', 'web-1', 'app']),
  named({ namespace_name: 'web', container_name: 'app' }, ['web', '', 'app']),
  named({ namespace_name: 'web', pod_name: 'web-1' }, ['web', 'web-1', '']),
  named({ ...WHOLE, pod_name: null }, ['web', '', 'app']),
  named({ namespace_name: 7, pod_name: 1, container_name: 2 }, ['7', '1', '2']),
  named({ namespace_name: true, pod_name: false, container_name: true }, ['true', 'false', 'true']),
  {
    members: {
      log: 'a line with dots',
      'kubernetes.namespace_name': 'web',
      'kubernetes.pod_name': 'web-1',
      'kubernetes.container_name': 'app',
    },
    names: APP,
    log: 'a line with dots',
  },
  { members: { log: 5, kubernetes: WHOLE }, names: APP, log: '5' },
  { members: { log: true, kubernetes: WHOLE }, names: APP, log: 'true' },
  { members: { log: '   ', kubernetes: WHOLE }, names: APP, log: '   ' },
  { members: { log: '\n\n', kubernetes: WHOLE }, names: APP, log: '' },
  { members: { log: 'a line\n', kubernetes: WHOLE }, names: APP, log: 'a line' },
  named({ ...WHOLE, namespace_name: 'db' }, ['db', 'web-1', 'app']),
];

const BEGIN = Date.parse('2026-01-15T10:00:00Z');
const END = BEGIN + ODD.length * 1_000;
const HOUR_MS = 3_600_000;
const RANGE = { start: instantOf(BEGIN), end: instantOf(END) };
const WEB: Selection['scope'] = {
  everything: false,
  namespaces: [{ name: 'web', since: instantOf(0) }],
};

/** One second apart, every other one with an offset in its time. */
function documentOf({ members }: OddRecord, n: number): object {
  const ms = BEGIN + n * 1_000;
  const elsewhere = new Date(ms + 5.5 * HOUR_MS).toISOString().replace('.000Z', '+05:30');
  return { time: n % 2 === 0 ? new Date(ms).toISOString() : elsewhere, ...members };
}

const RECORDS: readonly LogRecord[] = ODD.map(({ names: [namespace, pod, container], log }, n) => ({
  time: instantOf(BEGIN + n * 1_000),
  namespace,
  pod,
  container,
  log,
}));

function namesOf({ namespace, pod, container }: LogRecord): string {
  return JSON.stringify([namespace, pod, container]);
}

/** `start` is called once, before the first test; it may call `this.skip()`. */
export function describeOddRecords(
  name: string,
  start: (test: Mocha.Context) => Promise<StartedOddStore>,
): void {
  describe(`${name}, with incomplete records`, () => {
    let started: StartedOddStore | undefined;
    const call = () => ({ signal: new AbortController().signal, timeoutMs: 30_000 });

    before(async function () {
      this.timeout(300_000);
      started = await start(this);
      await started.write(ODD.map(documentOf));
    });

    after(() => started?.stop());

    const store = (): LogBackend => {
      if (!started) throw new Error('nothing was started');
      return started.store;
    };

    const shown = async (selection: Selection, order: Order): Promise<LogRecord[]> => {
      const seen: LogRecord[] = [];
      let after: string | undefined;
      do {
        const request = { order, size: 3, from: 0, ...(after === undefined ? {} : { after }) };
        const page = await store().query(selection, request, call());
        expect(page.shortfalls).to.deep.equal([]);
        seen.push(...page.records);
        after = page.next;
      } while (after !== undefined);
      return seen;
    };

    for (const [caller, scope, records] of [
      ['a caller with all permissions', { everything: true }, RECORDS],
      ['a caller with one namespace', WEB, RECORDS.filter(({ namespace }) => namespace === 'web')],
    ] as const satisfies readonly (readonly [string, Selection['scope'], readonly LogRecord[]])[]) {
      const selection: Selection = { scope, range: RANGE };

      it(`returns each of them once to ${caller}, with the names that it has`, async () => {
        expect(await shown(selection, 'asc')).to.deep.equal(records);
        expect(await shown(selection, 'desc')).to.deep.equal(records.toReversed());
      });

      it(`counts them for ${caller}`, async () => {
        const total = { count: records.length, relation: 'eq' };
        expect((await store().statistics(selection, call())).logs).to.deep.equal(total);
        const edges = [BEGIN, BEGIN + 7_000, END];
        const histogram = await store().histogram(selection, { edges }, call());
        const first = records.filter(({ time }) => time < instantOf(BEGIN + 7_000)).length;
        expect(histogram.counts).to.deep.equal([first, records.length - first]);
        expect(histogram.total).to.deep.equal(total);
      });

      it(`exports and follows them for ${caller}`, async () => {
        const exported: LogRecord[] = [];
        for await (const batch of store().export(selection, 'asc', call())) exported.push(...batch);
        expect(exported).to.deep.equal(records);
        const leaving = new AbortController();
        const followed: LogRecord[] = [];
        for await (const batch of store().follow(selection, leaving)) {
          followed.push(...batch);
          if (followed.length >= records.length) leaving.abort();
        }
        expect(followed).to.deep.equal(records);
      });
    }

    it('selects records by missing names', async () => {
      const groups = new Map(RECORDS.map((record) => [namesOf(record), record]));
      for (const [group, { namespace, pod, container }] of groups) {
        const records = RECORDS.filter((record) => namesOf(record) === group);
        const selection: Selection = {
          scope: { everything: true },
          range: RANGE,
          namespaces: { exact: [namespace] },
          pods: { exact: [pod] },
          containers: { exact: [container] },
        };
        expect(await shown(selection, 'asc'), group).to.deep.equal(records);
        const scoped = records.filter((record) => record.namespace === 'web');
        expect(await shown({ ...selection, scope: WEB }, 'asc'), group).to.deep.equal(scoped);
      }
    });
  });
}
