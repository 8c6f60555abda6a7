// Tests of the cache of the indices that a log query can search.
import { expect } from 'chai';
import { excluding, indexPath } from '../../../../../../server/logging/backends/opensearch/index-sets.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
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

/** A node with closed indices. */
function withClosed(closed: readonly string[]) {
  const script: Script = ({ path }, response) => {
    const url = new URL(path, 'http://store');
    const parts = (url.pathname.split('/')[1] ?? '').split(',');
    const isPattern = parts.some((part) => part.endsWith('*'));
    const named = closed.find((name) => (isPattern ? !parts.includes(`-${name}`) : parts.includes(name)));
    const isProbe =
      url.searchParams.get('expand_wildcards') === 'open,closed' ||
      !url.searchParams.has('ignore_unavailable');
    if (named === undefined || !isProbe || path.includes('_field_caps')) {
      return path.includes('_field_caps') ? CAPABILITIES : searchResponse([LINE]);
    }
    const error = { type: 'index_closed_exception', reason: 'closed', index: named };
    response.writeHead(400).end(JSON.stringify({ error: { root_cause: [error], ...error }, status: 400 }));
    return RESPONDED;
  };
  return scriptedStore(script, script);
}

describe('closed indices of OpenSearch', () => {
  const closed = days('2026.01', 8);
  for (const [count, range, more] of [
    [2, MONTH, ''],
    [5, YEARS, ''],
    [8, MONTH, ' and 3 more'],
    [8, YEARS, ' and 1 more, and possibly more'],
  ] as const) {
    it(`are named in partial results, up to five: ${count} from ${range.start.slice(0, 4)} on`, async () => {
      await using store = await withClosed(closed.slice(0, count));
      const selection = { scope: { everything: true }, range } as const;
      const page = await storeAt(store.url).query(selection, PAGE, call());
      expect(page.records).to.have.length(1);
      expect(page.total.relation).to.equal('gte');
      const names = closed.slice(0, Math.min(count, 5)).join(', ');
      expect(page.shortfalls).to.deep.equal([
        { reason: 'NotCovered', message: `the log store has closed ${names}${more}` },
      ]);
    });
  }
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
