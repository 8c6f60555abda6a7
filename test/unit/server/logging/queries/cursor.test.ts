// Tests of the encoder and decoder of page cursors.
import { expect } from 'chai';
import { type LogQuery, LogQuerySchema } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { readCursor, writeCursor } from '../../../../../server/logging/queries/log-queries.ts';

const CURSOR = {
  range: { start: '2026-11-20T10:00:00.000000000Z', end: '2026-11-20T11:00:00.000000000Z' },
  position: 'here',
} as const;

/** A value other than the default for each parameter. */
const OTHERS = new URLSearchParams(
  [
    'operation=statistics&start_time=1&end_time=2&log_query=timeout&match=regex&case=respect&level=error',
    'namespaces=shop&namespace_query=shop&workloads=cart&workload_query=cart&pods=cart-0&pod_query=cart',
    'containers=app&container_query=app&interval=1h&time_zone=Europe/Berlin&sort=asc&from=1&size=11',
    'cursor=another&context=a&before=1&after=1&highlight=true&severity=true&format=csv&bom=false&follow=true',
  ].join('&'),
);

/** Parameters that others need. */
const NEEDED: Readonly<Record<string, string>> = {
  before: 'context=a',
  after: 'context=a',
  bom: 'operation=export&format=csv',
  format: 'operation=export',
};

/** Parameters that affect neither the selection nor the order. */
const OF_THE_PAGE = new Set<string>(
  'after before cursor from highlight interval severity size time_zone'.split(' '),
);

describe('a cursor', () => {
  const decode = (parameters: string) => newLogQueryDecoder().decode(new URLSearchParams(parameters));
  const first = decode('');

  for (const name of Object.keys(LogQuerySchema.properties) as (keyof LogQuery)[]) {
    const isOfPage = OF_THE_PAGE.has(name);
    it(`is ${isOfPage ? 'valid' : 'rejected'} with another ${name}`, () => {
      const next = { ...first, [name]: decode(`${name}=${OTHERS.get(name)}&${NEEDED[name] ?? ''}`)[name] };
      expect(next).not.to.deep.equal(first);
      const read = () => readCursor(next, 'jane', writeCursor(first, 'jane', CURSOR));
      if (isOfPage) expect(read()).to.deep.equal(CURSOR);
      else expect(read).to.throw('belongs to another query or another caller').with.property('code', 400);
    });
  }

  it('is valid for any order of parameters, and with explicit defaults', () => {
    const cursor = writeCursor(decode('pods=cart-0&namespaces=shop&log_query=timeout'), 'jane', CURSOR);
    for (const again of [
      'log_query=timeout&namespaces=shop&pods=cart-0',
      'sort=desc&case=ignore&size=5&namespaces=shop&log_query=timeout&pods=cart-0',
    ]) {
      expect(readCursor(decode(again), 'jane', cursor), again).to.deep.equal(CURSOR);
    }
  });

  it('of another version is rejected', () => {
    const cursor = Buffer.from(writeCursor(first, 'jane', CURSOR), 'base64url').toString();
    const parts = JSON.parse(cursor) as unknown[];
    const encoded = (changed: unknown[]) => Buffer.from(JSON.stringify(changed)).toString('base64url');
    expect(readCursor(first, 'jane', encoded(parts))).to.deep.equal(CURSOR);
    for (const version of [0, 2, '1', null]) {
      expect(() => readCursor(first, 'jane', encoded(parts.with(0, version))))
        .to.throw('is not a cursor of this server; omit it for the first page')
        .with.property('code', 400);
    }
  });
});
