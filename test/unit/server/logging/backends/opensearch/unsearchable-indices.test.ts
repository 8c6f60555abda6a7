import { expect } from 'chai';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { until } from '../../../../../support/until.ts';
import { ANSWERED, answer, CAPABILITIES, call, type Script, scriptedStore } from './scripted-store.ts';

const PAGE = { order: 'asc', size: 10, from: 0 } as const;
const LINE = { id: 'a', key: '1768521600000000000', sequence: 1 };
const END = '2026-02-01T00:00:00.000000000Z';
const MONTH = { start: '2026-01-01T00:00:00.000000000Z', end: END };
const YEARS = { start: '2025-01-01T00:00:00.000000000Z', end: END };
const ALWAYS = { start: '1970-01-01T00:00:00.000000000Z', end: END };

const days = (month: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `logs-${month}.${String(n + 1).padStart(2, '0')}`);

/** What a node does that has these indices, some of which are closed, and of some of which the reading is blocked. */
class Indices {
  closed: readonly string[] = [];
  /** Of these, those that were closed only when their fields had been told. */
  justClosed: readonly string[] = [];
  blocked: readonly string[] = [];
  /** Paths of what was searched, without looks at whether it can be. */
  readonly searched: string[] = [];
  readonly names: string[];

  constructor(names: readonly string[]) {
    this.names = [...names];
  }

  readonly search: Script = ({ path, body }, response) => {
    const url = new URL(path, 'http://store');
    const expression = (url.pathname.split('/')[1] ?? '').split(',');
    const found = this.#expanded(expression);
    const withClosed = url.searchParams.get('expand_wildcards') === 'open,closed';
    const closed = found.find((name) => this.closed.includes(name));
    const isNamed = closed !== undefined && expression.includes(closed);
    if (closed !== undefined && (withClosed || (isNamed && !url.searchParams.has('ignore_unavailable')))) {
      return refuse(response, 400, { type: 'index_closed_exception', reason: 'closed', index: closed });
    }
    const blocked = found.find((name) => this.blocked.includes(name));
    if (blocked !== undefined) {
      const reason = `index [${blocked}] blocked by: [FORBIDDEN/7/index read (api)];`;
      return refuse(response, 403, { type: 'cluster_block_exception', reason });
    }
    if (!JSON.stringify(body).includes('match_none'))
      this.searched.push(decodeURIComponent(expression.join(',')));
    return answer([LINE]);
  };

  readonly about: Script = (asked, response) => {
    if (!asked.path.includes('/_field_caps')) return this.search(asked, response);
    const found = this.#expanded((asked.path.split('/')[1] ?? '').split(','));
    const unsearchable = new Set([...this.closed, ...this.blocked]);
    const indices = found.filter((name) => this.justClosed.includes(name) || !unsearchable.has(name));
    return { ...CAPABILITIES, indices };
  };

  #expanded(expression: readonly string[]): string[] {
    const found = new Set<string>();
    for (const part of expression) {
      const [isExcluded, name] = part.startsWith('-') ? [true, part.slice(1)] : [false, part];
      const matching = this.names.filter((one) =>
        name.endsWith('*') ? one.startsWith(name.slice(0, -1)) : one === name,
      );
      for (const one of matching) {
        if (isExcluded) found.delete(one);
        else found.add(one);
      }
    }
    return [...found];
  }
}

function refuse(response: Parameters<Script>[1], status: number, error: object): typeof ANSWERED {
  response.writeHead(status).end(JSON.stringify({ error: { root_cause: [error], ...error }, status }));
  return ANSWERED;
}

const asked = (range: typeof MONTH) => ({ scope: { everything: true }, range }) as const;

describe('indices that OpenSearch has and does not search', () => {
  it('are found out anew, once, by who is refused', async () => {
    const indices = new Indices(days('2026.01', 31));
    await using store = await scriptedStore(indices.search, indices.about);
    const log = storeAt(store.url);
    expect((await log.query(asked(MONTH), PAGE, call())).shortfalls).to.deep.equal([]);
    indices.blocked = ['logs-2026.01.02'];
    for (const _ of [1, 2]) {
      const page = await log.query(asked(MONTH), PAGE, call());
      expect(page.shortfalls.map(({ message }) => message)).to.deep.equal([
        'the log store refuses to search logs-2026.01.02',
      ]);
      expect(page.total.relation).to.equal('gte');
    }
    indices.blocked = days('2026.01', 31);
    const refused: unknown = await log.query(asked(MONTH), PAGE, call()).catch((error: unknown) => error);
    expect(refused).to.include({ code: 503 });
  });

  it('are left out of patterns by name', async () => {
    const indices = new Indices([...days('2025.12', 31), ...days('2026.01', 31)]);
    await using store = await scriptedStore(indices.search, indices.about);
    // A node tells the first that it comes to, in an order of its own.
    indices.blocked = ['logs-2025.12.24', 'logs-2026.01.02'];
    indices.names.reverse();
    for (const range of [YEARS, ALWAYS]) {
      const page = await storeAt(store.url).query(asked(range), PAGE, call());
      expect(page.shortfalls.map(({ message }) => message)).to.deep.equal([
        'the log store refuses to search logs-2025.12.24, logs-2026.01.02',
      ]);
      expect(indices.searched.at(-1)?.split(',').slice(-2)).to.have.members([
        '-logs-2025.12.24',
        '-logs-2026.01.02',
      ]);
    }
  });

  it('are months where they are more than a request can name', async () => {
    const december = Array.from({ length: 400 }, (_, n) => `logs-2025.12.31-${n}`);
    const indices = new Indices([...december, ...days('2026.01', 31)]);
    await using store = await scriptedStore(indices.search, indices.about);
    indices.blocked = december;
    const page = await storeAt(store.url).query(asked(YEARS), PAGE, call());
    expect(page.shortfalls.map(({ message }) => message)).to.deep.equal([
      'the log store refuses to search logs-2025.12.*',
    ]);
    expect(store.asked.every(({ path }) => path.length < 4_000)).to.equal(true);
  });

  it('are closed ones too, of which a pattern may have more than are named', async () => {
    const indices = new Indices(days('2026.01', 31));
    await using store = await scriptedStore(indices.search, indices.about);
    const closed = days('2026.01', 8);
    for (const [count, range, more] of [
      [2, MONTH, ''],
      [2, YEARS, ''],
      [5, YEARS, ''],
      [8, MONTH, ' and 3 more indices'],
      [8, YEARS, ' and more indices'],
      [8, ALWAYS, ' and more indices'],
    ] as const) {
      indices.closed = closed.slice(0, count);
      const page = await storeAt(store.url).query(asked(range), PAGE, call());
      expect(page.records).to.have.length(1);
      expect(page.total.relation).to.equal('gte');
      expect(page.shortfalls).to.deep.equal([
        {
          reason: 'NotCovered',
          message: `the log store has closed ${closed.slice(0, Math.min(count, 5)).join(', ')}${more}`,
        },
      ]);
    }
  });

  it('are closed ones too that were not a moment before, when their fields were told', async () => {
    const indices = new Indices(days('2026.01', 31));
    await using store = await scriptedStore(indices.search, indices.about);
    indices.closed = ['logs-2026.01.02'];
    indices.justClosed = indices.closed;
    const page = await storeAt(store.url).query(asked(MONTH), PAGE, call());
    expect(page.shortfalls.map(({ message }) => message)).to.deep.equal([
      'the log store has closed logs-2026.01.02',
    ]);
  });

  it('do not count where they are of no day that is asked for', async () => {
    const indices = new Indices([...days('2026.01', 31), 'logs-2026.01.05-copy', 'logs-2026.02.01']);
    await using store = await scriptedStore(indices.search, indices.about);
    indices.closed = ['logs-2026.01.05-copy', 'logs-2026.02.01'];
    const page = await storeAt(store.url).query(asked(MONTH), PAGE, call());
    expect(page.shortfalls).to.deep.equal([]);
    expect(page.total).to.deep.equal({ count: 1, relation: 'eq' });
  });

  it('are not followed, while others are', async () => {
    const now = Date.parse('2026-01-05T00:00:10Z');
    const indices = new Indices(days('2026.01', 5));
    await using store = await scriptedStore(indices.search, indices.about);
    const log = storeAt(store.url, { wallClock: () => now, followTuning: { pollMs: 5, retryMs: 5 } });
    const range = { start: '2026-01-04T23:59:00.000000000Z', end: END };
    const leaving = new AbortController();
    const lines = log.follow(asked(range), { signal: leaving.signal });
    await lines.next();
    const next = lines.next();
    indices.blocked = ['logs-2026.01.04'];
    await until(() => indices.searched.at(-1) === 'logs-2026.01.05,logs-2026.01.06');
    leaving.abort();
    await next;
  });
});
