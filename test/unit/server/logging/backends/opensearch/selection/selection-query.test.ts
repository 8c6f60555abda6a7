import { expect } from 'chai';
import { FieldMap } from '../../../../../../../server/logging/backends/opensearch/fields/field-map.ts';
import type { Clause } from '../../../../../../../server/logging/backends/opensearch/searches/clause.ts';
import {
  type SelectionQuery,
  slicesOfNamespaces,
  slicesOfTime,
  type UnslicedQuery,
} from '../../../../../../../server/logging/backends/opensearch/selection/selection-query.ts';
import { instantOf } from '../../../../../../../server/logging/instant.ts';
import { FIELDS } from '../../../../../../support/logging/opensearch-store.ts';
import { CAPABILITIES } from '../scripted-store.ts';

interface Line {
  readonly namespace: string;
  readonly time: string;
}

const MANY = 1_500;
const at = (second: number): string => instantOf(second * 1_000);
const range = { start: at(10), end: at(5_000) };

/** Namespaces that were made anew, two at a time or one, from the start of the range on. */
function unsliced(): UnslicedQuery {
  const fields = FieldMap.read(FIELDS, CAPABILITIES);
  if (!fields) throw new Error('there are no fields');
  const sinceOf = (n: number): string => at(11 + n - (n % 4 === 3 ? 1 : 0));
  const bound = Array.from({ length: MANY }, (_, n) => ({ name: `team-${n}`, since: sinceOf(n) }));
  const groups = Map.groupBy(bound, ({ since }) => since);
  const bounds = [...groups]
    .map(([since, group]) => ({ since, names: group.map(({ name }) => name) }))
    .sort((a, b) => (a.since < b.since ? -1 : 1));
  const names = ['old', ...bound.map(({ name }) => name)];
  const scope = { names, coverage: fields.exact('namespace'), bounds };
  const indicesWithin = (): string => 'logs-*';
  return { indices: 'logs-*', indicesWithin, fields, range, filter: [], scope, shortfalls: [] };
}

/** Whether a line is found, as the store sees it. */
function holds(clause: Clause, line: Line): boolean {
  const [[kind, body] = ['', {}]] = Object.entries(clause) as [string, Record<string, unknown>][];
  if (kind === 'bool') {
    const all = (body['filter'] ?? []) as Clause[];
    const none = (body['must_not'] ?? []) as Clause[];
    return all.every((one) => holds(one, line)) && !none.some((one) => holds(one, line));
  }
  if (kind === 'term') return body[FIELDS.namespace] === line.namespace;
  if (kind === 'terms') return (body[FIELDS.namespace] as string[]).includes(line.namespace);
  if (kind === 'match_none') return false;
  const { gte = '', lt = '9' } = body['time'] as { gte?: string; lt?: string };
  return line.time >= gte && line.time < lt;
}

/** As Lucene counts them: a range is two. */
function clausesOf(clause: Clause): number {
  const [[kind, body] = ['', {}]] = Object.entries(clause) as [string, Record<string, Clause[]>][];
  if (kind !== 'bool') return kind === 'range' ? 2 : 1;
  return [...(body['filter'] ?? []), ...(body['must_not'] ?? [])].reduce(
    (sum, one) => sum + clausesOf(one),
    0,
  );
}

describe('a selection of 1,500 namespaces that were made anew', () => {
  const whole = unsliced();
  const since = new Map(
    (whole.scope?.bounds ?? []).flatMap(({ since: time, names }) => names.map((name) => [name, time])),
  );
  const lines = ['old', 'foreign', ...since.keys()]
    .filter((_, n) => n % 7 < 2)
    .flatMap((namespace) => {
      const begin = since.get(namespace);
      const second = begin === undefined ? 700 : Date.parse(begin) / 1_000;
      return [9, 10, second - 1, second, second + 1, 4_999, 5_000].map((time) => ({
        namespace,
        time: at(time),
      }));
    });
  const isSeen = ({ namespace, time }: Line): boolean =>
    namespace !== 'foreign' &&
    time >= range.start &&
    time < range.end &&
    time >= (since.get(namespace) ?? range.start);

  for (const [what, cut] of [
    ['time', slicesOfTime],
    ['namespaces', slicesOfNamespaces],
  ] as const) {
    it(`is cut into slices of ${what} that share no line and leave none out`, () => {
      const slices = cut(whole);
      expect(slices.length).to.be.above(3);
      const found = (line: Line) => slices.filter(({ query }) => holds(query, line)).length;
      const wrong = lines.filter((line) => found(line) !== (isSeen(line) ? 1 : 0));
      expect(wrong).to.deep.equal([]);
    });

    it(`is cut into slices of ${what} that hold no more clauses than a query may`, () => {
      for (const { query } of cut(whole)) expect(clausesOf(query)).to.be.below(900);
    });
  }

  it('is cut into slices of time that ascend, with nothing between them', () => {
    const slices = slicesOfTime(whole);
    expect(slices[0]?.range.start).to.equal(range.start);
    expect(slices.at(-1)?.range.end).to.equal(range.end);
    slices.slice(1).forEach((slice: SelectionQuery, n) => {
      expect(slice.range.start).to.equal(slices[n]?.range.end);
      expect(slice.range.start < slice.range.end).to.equal(true);
    });
  });

  it('stays in one piece where few were made anew', () => {
    const few = {
      ...whole,
      scope: whole.scope && { ...whole.scope, bounds: whole.scope.bounds.slice(0, 280) },
    };
    expect(slicesOfTime(few)).to.have.length(1);
    expect(slicesOfNamespaces(few)).to.have.length(1);
    expect(slicesOfTime({ ...whole, scope: undefined })).to.have.length(1);
  });
});

describe('what aggregations are asked about', () => {
  const fields = FieldMap.read(FIELDS, CAPABILITIES);
  if (!fields) throw new Error('there are no fields');
  const everything: UnslicedQuery = {
    indices: 'logs-*',
    indicesWithin: () => 'logs',
    fields,
    range,
    filter: [],
    scope: undefined,
    shortfalls: [],
  };

  it('is the range itself where nothing else is asked', () => {
    const [slice] = slicesOfNamespaces(everything);
    expect(slice?.counting).to.have.all.keys('range');
    expect(slice?.query).to.deep.equal({ bool: { filter: [slice?.counting] } });
  });

  it('is all that is asked, and nothing of others', () => {
    const names = ['web'];
    const bounds = [{ since: at(20), names }];
    const coverage = fields.exact('namespace');
    for (const asked of [
      { ...everything, filter: [{ match_none: {} }] },
      { ...everything, scope: { names, coverage, bounds: [] } },
      { ...everything, scope: { names, coverage, bounds } },
    ]) {
      for (const { counting, query } of slicesOfNamespaces(asked)) expect(counting).to.equal(query);
    }
  });
});
