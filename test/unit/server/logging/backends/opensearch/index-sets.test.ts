// Tests of the cache of the indices that a log query can search.
import { expect } from 'chai';
import { excluding, indexPath } from '../../../../../../server/logging/backends/opensearch/index-sets.ts';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { until } from '../../../../../support/until.ts';
import {
  CAPABILITIES,
  call,
  RESPONDED,
  type Script,
  scriptedStore,
  searchResponse,
} from './scripted-store.ts';

const PAGE = { order: 'asc', size: 10, from: 0 } as const;
const LINE = { id: 'a', key: '1768521600000000000', sequence: 1 };
const END = '2026-02-01T00:00:00.000000000Z';
const MONTH = { start: '2026-01-01T00:00:00.000000000Z', end: END };
const YEARS = { start: '2025-01-01T00:00:00.000000000Z', end: END };

const days = (month: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `logs-${month}.${String(n + 1).padStart(2, '0')}`);

/** A node with these indices, some of them closed or blocked. */
class Indices {
  closed: readonly string[] = [];
  blocked: readonly string[] = [];
  /** Paths of searches, besides those for the layout. */
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
    return searchResponse([LINE]);
  };

  readonly about: Script = (request, response) => {
    if (!request.path.includes('/_field_caps')) return this.search(request, response);
    const found = this.#expanded((request.path.split('/')[1] ?? '').split(','));
    const unsearchable = new Set([...this.closed, ...this.blocked]);
    const indices = found.filter((name) => !unsearchable.has(name));
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

function refuse(response: Parameters<Script>[1], status: number, error: object): typeof RESPONDED {
  response.writeHead(status).end(JSON.stringify({ error: { root_cause: [error], ...error }, status }));
  return RESPONDED;
}

const selectionOf = (range: typeof MONTH) => ({ scope: { everything: true }, range }) as const;

describe('closed and blocked indices of OpenSearch', () => {
  it('are found by the first query that the store rejects', async () => {
    const indices = new Indices(days('2026.01', 31));
    await using store = await scriptedStore(indices.search, indices.about);
    const log = storeAt(store.url);
    expect((await log.query(selectionOf(MONTH), PAGE, call())).shortfalls).to.deep.equal([]);
    indices.blocked = ['logs-2026.01.02'];
    for (const _ of [1, 2]) {
      const page = await log.query(selectionOf(MONTH), PAGE, call());
      expect(page.shortfalls.map(({ message }) => message)).to.deep.equal([
        'the log store rejects searches of logs-2026.01.02',
      ]);
      expect(page.total.relation).to.equal('gte');
    }
    indices.blocked = days('2026.01', 31);
    const refused: unknown = await log
      .query(selectionOf(MONTH), PAGE, call())
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 503 });
  });

  it('are named in partial results, up to five', async () => {
    const indices = new Indices(days('2026.01', 31));
    await using store = await scriptedStore(indices.search, indices.about);
    const closed = days('2026.01', 8);
    for (const [count, range, more] of [
      [2, MONTH, ''],
      [2, YEARS, ''],
      [5, YEARS, ''],
      [8, MONTH, ' and 3 more'],
      [8, YEARS, ' and 1 more, and possibly more'],
    ] as const) {
      indices.closed = closed.slice(0, count);
      const page = await storeAt(store.url).query(selectionOf(range), PAGE, call());
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

  it('are omitted from live tails', async () => {
    const now = Date.parse('2026-01-05T00:00:10Z');
    const indices = new Indices(days('2026.01', 5));
    await using store = await scriptedStore(indices.search, indices.about);
    const log = storeAt(store.url, { wallClock: () => now, followTuning: { pollMs: 5, retryMs: 5 } });
    const range = { start: '2026-01-04T23:59:00.000000000Z', end: END };
    const leaving = new AbortController();
    const lines = log.follow(selectionOf(range), { signal: leaving.signal });
    await lines.next();
    const next = lines.next();
    indices.blocked = ['logs-2026.01.04'];
    await until(() => indices.searched.at(-1) === 'logs-2026.01.05,logs-2026.01.06');
    leaving.abort();
    await next;
  });
});

const THREE_DAYS = selectionOf({
  start: '2026-01-15T00:00:00.000000000Z',
  end: '2026-01-18T00:00:00.000000000Z',
});

/** The security plugin rejects a search of a forbidden index as a whole, and does not name the index. */
function forbidding(isForbidden: (name: string) => boolean) {
  const script: Script = ({ path }, response) => {
    const names = path.split('/')[1]?.split(',') ?? [];
    if (names.some((name) => isForbidden(name) || name.includes('2*'))) {
      const reason = 'no permissions for [indices:data/read/search] and User [name=logs, backend_roles=[]]';
      return refuse(response, 403, { type: 'security_exception', reason });
    }
    return path.includes('_field_caps') ? CAPABILITIES : searchResponse([LINE]);
  };
  return scriptedStore(script, script);
}

const failure = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);

describe('indices of OpenSearch that the user may not read', () => {
  const someDays = (name: string) => name.includes('01.15') || name.includes('01.17');

  it('are named in partial results, and probed once', async () => {
    await using store = await forbidding(someDays);
    const backend = storeAt(store.url);
    for (let round = 0; round < 3; round++) {
      const page = await backend.query(THREE_DAYS, PAGE, call());
      expect(page.total).to.deep.equal({ count: 1, relation: 'gte' });
      const message = 'the log store rejects searches of logs-2026.01.15, logs-2026.01.17';
      expect(page.shortfalls).to.deep.equal([{ reason: 'NotCovered', message }]);
    }
    const sorted = store.requests.filter(({ body }) => body['sort'] !== undefined);
    expect(sorted.map(({ path }) => path.split('/')[1])).to.deep.equal(Array(3).fill('logs-2026.01.16'));
  });

  it('are an error if there are no other indices, and in patterns, because the store does not name them', async () => {
    await using store = await forbidding(() => true);
    expect(await failure(storeAt(store.url).query(THREE_DAYS, PAGE, call()))).to.include({ code: 503 });
    await using some = await forbidding(someDays);
    expect(await failure(storeAt(some.url).query(selectionOf(YEARS), PAGE, call()))).to.include({
      code: 503,
    });
  });

  it('are reported by the health check', async () => {
    await using store = await forbidding(someDays);
    const error = await failure(storeAt(store.url).check(call()));
    expect(unfitOptionIn(error)?.reason).to.match(/rejects searches of some of the indices/);
  });

  it('are an error, not an empty result, if only `field_caps` is forbidden', async () => {
    await using store = await scriptedStore(
      () => searchResponse([LINE]),
      ({ path }) => (path.includes('_field_caps') ? { indices: [], fields: {} } : searchResponse([LINE])),
    );
    const error = await failure(storeAt(store.url).query(THREE_DAYS, PAGE, call()));
    expect(error).to.include({ code: 503 });
    expect(unfitOptionIn(error)?.reason).to.match(/needs indices:data\/read\/field_caps\*$/);
  });
});

describe('the layout of an index', () => {
  const [OLD, NEW] = ['logs-2026.01.15', 'logs-2026.01.16'];
  const keyword = { type: 'keyword', searchable: true, aggregatable: true };
  const unsearchable = { type: 'text', searchable: false, aggregatable: false };
  /** `types` for the old index; the new one has the index template. */
  const withOld = (field: string, types: object) => ({
    indices: [OLD, NEW],
    fields: {
      ...CAPABILITIES.fields,
      [field]: {
        ...Object.fromEntries(
          Object.entries((CAPABILITIES.fields as Record<string, object>)[field] ?? {}).map(([type, own]) => [
            type,
            { ...own, indices: [NEW] },
          ]),
        ),
        ...types,
      },
    },
  });

  for (const [what, capabilities, fault] of [
    [
      'a time that is no date',
      withOld('time', { long: { ...keyword, type: 'long', indices: [OLD] } }),
      /time has to be .* date/,
    ],
    [
      'lines that are not text',
      withOld('log', { long: { ...keyword, type: 'long', indices: [OLD] } }),
      /log has to be .* text/,
    ],
    [
      'names without a keyword',
      withOld('kubernetes.pod_name', { 'text ': { ...unsearchable, indices: [OLD] } }),
      /pod_name has to be .* keyword/,
    ],
    [
      'names in nested objects',
      withOld('kubernetes', { nested: { ...unsearchable, type: 'nested', indices: [OLD] } }),
      /must not be in a nested object/,
    ],
  ] as const) {
    it(`is not supported with ${what}: the index is omitted and named`, async () => {
      await using store = await scriptedStore(() => searchResponse([LINE]), capabilities);
      const backend = storeAt(store.url);
      const page = await backend.query(THREE_DAYS, PAGE, call());
      expect(page.records).to.have.length(1);
      expect(page.shortfalls.map(({ message }) => message)).to.deep.equal([
        `the log store has indices with an unsupported layout: ${OLD}`,
      ]);
      expect(store.requests.at(-1)?.path).to.not.include(OLD);
      const error = await failure(backend.check(call()));
      expect(unfitOptionIn(error)?.reason).to.match(fault).and.include(OLD);
      await using only = await scriptedStore(() => searchResponse([LINE]), {
        ...capabilities,
        indices: [OLD],
      });
      const rejected = await failure(storeAt(only.url).query(THREE_DAYS, PAGE, call()));
      expect(rejected).to.include({ code: 400 });
      expect(rejected).to.have.property('message').that.matches(fault);
    });
  }

  it('of an index without documents is read again after a second', async () => {
    let fields: object = {};
    let reads = 0;
    await using store = await scriptedStore(
      () => searchResponse([LINE]),
      ({ path }) => {
        if (!path.includes('_field_caps')) return searchResponse([]);
        reads++;
        return { indices: [NEW], fields };
      },
    );
    let now = 0;
    const backend = storeAt(store.url, { now: () => now });
    expect((await backend.query(THREE_DAYS, PAGE, call())).total).to.deep.equal({ count: 0, relation: 'eq' });
    ({ fields } = CAPABILITIES);
    now += 1_000;
    expect((await backend.query(THREE_DAYS, PAGE, call())).records).to.have.length(1);
    now += 10_000;
    await backend.query(THREE_DAYS, PAGE, call());
    expect(reads).to.equal(2);
  });
});

const daily = { prefix: 'logs', daily: true };
const path = (start: string, end: string) => indexPath(daily, { start, end });

describe('the indices of a range', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  for (const place of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    it(`are its days in UTC if the time zone is ${place}`, () => {
      process.env['TZ'] = place;
      for (const [start, end, expected] of [
        [
          '2026-01-14T23:59:59.999999999Z',
          '2026-01-15T00:00:00.000000001Z',
          'logs-2026.01.14,logs-2026.01.15',
        ],
        ['2026-01-14T23:59:59.999999999Z', '2026-01-15T00:00:00.000000000Z', 'logs-2026.01.14'],
        ['2026-01-15T00:00:00.000000000Z', '2026-01-16T00:00:00.000000000Z', 'logs-2026.01.15'],
        [
          '2027-12-31T12:00:00.000000000Z',
          '2028-01-01T12:00:00.000000000Z',
          'logs-2027.12.31,logs-2028.01.01',
        ],
      ] as const) {
        expect(path(start, end)).to.equal(expected);
      }
    });
  }

  it('include a leap day', () => {
    expect(
      path('2028-02-28T00:00:00.000000000Z', '2028-03-01T00:00:00.000000001Z').split(','),
    ).to.have.length(3);
  });

  it('are a pattern if the days do not fit into a path', () => {
    expect(path('1970-01-01T00:00:00.000000000Z', '2286-11-20T17:46:39.000000000Z')).to.equal('logs-2*');
    for (let days = 1; days < 1_000; days += 13) {
      const end = new Date(Date.UTC(2026, 0, 1) + days * 86_400_000).toISOString().replace('Z', '000000Z');
      expect(path('2026-01-01T00:00:00.000000000Z', end).length).to.be.at.most(2_048);
    }
  });

  it('are all indices with the prefix if dailyIndices is false', () => {
    const range = { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
    expect(indexPath({ prefix: 'a b', daily: false }, range)).to.equal('a%20b*');
  });

  it('exclude indices by name', () => {
    expect(excluding('a-1,a-2', ['a-1'])).to.equal('a-2');
    expect(excluding('a*', ['a-1', 'a-2'])).to.equal('a*,-a-1,-a-2');
    expect(excluding('a*', ['x'.repeat(4_000)])).to.equal(undefined);
  });
});
