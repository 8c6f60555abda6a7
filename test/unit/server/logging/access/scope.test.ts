// Tests of the namespaces whose logs a caller may read.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import { LogService, type LogServiceOptions, line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const RECORDS = [
  line('2026-11-20T09:00:00.000000000Z', 'of the old shop'),
  line('2026-11-20T10:00:00.999999999Z', 'of the new shop'),
  line('2026-11-20T10:30:00.000000000Z', 'of the bank', { namespace: 'bank' }),
  line('2026-11-20T10:40:00.000000000Z', 'of a deleted one', { namespace: 'gone' }),
];
const NAMESPACES = {
  shop: '2026-11-20T10:00:00Z',
  bank: '2020-01-01T00:00:00Z',
  other: '2020-01-01T00:00:00Z',
};

describe('the scope of a caller', () => {
  const serve = (options: Partial<LogServiceOptions>): Promise<LogService> =>
    new LogService({ store: new MemoryLogStore(RECORDS), namespaces: NAMESPACES, ...options }).start();
  const total = async (service: LogService, query = ''): Promise<unknown> =>
    record((await service.json(query))['query'])['total'];

  it('is everything, with deleted namespaces, after one check for a cluster-wide permission', async () => {
    await using service = await serve({});
    expect(await total(service)).to.equal(4);
    expect(await total(service, 'namespaces=gone')).to.equal(1);
    expect(await total(service, 'namespace_query=on')).to.equal(1);
    expect(service.checkedNamespaces).to.deep.equal(['']);
  });

  it('has the readable namespaces from their creation on', async () => {
    await using service = await serve({ allowed: (namespace) => namespace === 'shop' });
    expect(await total(service)).to.equal(1);
    expect(await service.json('operation=statistics')).to.have.nested.property('statistics.logs', 1);
    const { histogram } = await service.json('operation=histogram&interval=1h');
    expect(histogram).to.deep.equal({
      total: 1,
      totalRelation: 'eq',
      histograms: [
        { time: Date.parse('2026-11-20T10:00:00Z'), count: 1 },
        { time: Date.parse('2026-11-20T11:00:00Z'), count: 0 },
        { time: Date.parse('2026-11-20T12:00:00Z'), count: 0 },
      ],
    });
    expect((await service.ask('operation=export&sort=asc')).body.toString()).to.equal('of the new shop\n');
  });

  it('does not distinguish forbidden, deleted and unknown namespaces', async () => {
    await using service = await serve({ allowed: (namespace) => namespace === 'shop' });
    const strip = ({ body, status }: { body: Buffer; status: number }) =>
      `${status} ${body.toString().replace(/"took":\d+/, '')}`;
    const responses = await Promise.all(
      ['bank', 'gone', 'never'].flatMap((name) =>
        ['query', 'statistics', 'histogram', 'export'].map(async (operation) => [
          operation,
          strip(await service.ask(`operation=${operation}&namespaces=${name}`)),
        ]),
      ),
    );
    expect(new Set(responses.map(String)).size).to.equal(4);
    // All three are checked, so that the response time reveals nothing.
    expect(service.checkedNamespaces).to.include.members(['bank', 'gone', 'never']);
  });

  it('excludes a namespace that does not exist, even if it is allowed', async () => {
    await using service = await serve({ allowed: (namespace) => namespace !== '' });
    expect(await total(service, 'namespaces=never')).to.equal(0);
    expect(await total(service, 'namespaces=never,bank')).to.equal(1);
  });

  it('does not reach the store when it is empty', async () => {
    const store = new Proxy(new MemoryLogStore([]), {
      get: () => {
        throw new Error('the store was queried');
      },
    });
    await using service = await serve({ store, allowed: () => false });
    for (const operation of ['query', 'statistics', 'histogram', 'export']) {
      expect((await service.ask(`operation=${operation}`)).status, operation).to.equal(200);
    }
  });

  it('has the same buckets when it is empty as without matching lines', async () => {
    await using service = await serve({ allowed: (namespace) => namespace === 'bank' });
    const histogramOf = async (query: string) =>
      (await service.json(`operation=histogram&interval=10m&end_time=1795170599&${query}`))['histogram'];
    for (const start of ['start_time=1795168800', '']) {
      const found = await histogramOf(`${start}&namespaces=bank&pods=none`);
      expect(await histogramOf(`${start}&namespaces=shop`)).to.deep.equal(found);
      expect(record(found)['histograms']).to.have.length(start === '' ? 0 : 3);
    }
  });

  it('checks every namespace for a part of a name, so that the response time reveals nothing', async () => {
    await using service = await serve({ allowed: (namespace) => namespace === 'bank' });
    const parts = ['a', 'shop', 'none', 'bank', 'o'];
    const totals = await Promise.all(parts.map((part) => total(service, `namespace_query=${part}`)));
    expect(totals).to.deep.equal([1, 0, 0, 1, 0]);
    expect(service.checkedNamespaces.toSorted()).to.deep.equal(['', 'bank', 'other', 'shop']);
  });

  it('is a 503 while the cluster is unavailable', async () => {
    await using service = await serve({
      allowed: (namespace) => {
        if (namespace === 'bank') throw newServiceUnavailable('the cluster does not respond');
        return namespace === 'shop';
      },
    });
    expect((await service.ask('')).status).to.equal(503);
    expect((await service.ask('operation=export')).status).to.equal(503);
    expect(await total(service, 'namespaces=shop')).to.equal(1);
  });
});
