// Tests of the namespaces whose logs a caller may read.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import type { Attributes } from '../../../../../server/authorization/authorizer.ts';
import { Scopes } from '../../../../../server/logging/access/scope.ts';
import type { NameFilter, Scope } from '../../../../../server/logging/log-store.ts';
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
  let running: LogService[] = [];
  const serve = async (options: Partial<LogServiceOptions>): Promise<LogService> => {
    const service = new LogService({
      store: new MemoryLogStore(RECORDS),
      namespaces: NAMESPACES,
      ...options,
    });
    running.push(service);
    return service.start();
  };
  afterEach(async () => {
    for (const service of running) await service.stop();
    running = [];
  });
  const total = async (service: LogService, query = ''): Promise<unknown> =>
    record((await service.json(query))['query'])['total'];

  it('is everything, with deleted namespaces, after one check for a cluster-wide permission', async () => {
    const service = await serve({});
    expect(await total(service)).to.equal(4);
    expect(await total(service, 'namespaces=gone')).to.equal(1);
    expect(await total(service, 'namespace_query=on')).to.equal(1);
    expect(service.checkedNamespaces).to.deep.equal(['']);
  });

  it('has the readable namespaces from their creation on', async () => {
    const service = await serve({ allowed: (namespace) => namespace === 'shop' });
    expect(await total(service)).to.equal(1);
    const { statistics } = await service.json('operation=statistics');
    expect(statistics).to.deep.include({ logs: 1 });
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
    const service = await serve({ allowed: (namespace) => namespace === 'shop' });
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
    const service = await serve({ allowed: (namespace) => namespace !== '' });
    expect(await total(service, 'namespaces=never')).to.equal(0);
    expect(await total(service, 'namespaces=never,bank')).to.equal(1);
  });

  it('does not reach the store when it is empty', async () => {
    const store = new Proxy(new MemoryLogStore([]), {
      get: () => {
        throw new Error('the store was queried');
      },
    });
    const service = await serve({ store, allowed: () => false });
    for (const operation of ['query', 'statistics', 'histogram', 'export']) {
      expect((await service.ask(`operation=${operation}`)).status, operation).to.equal(200);
    }
  });

  it('has the same buckets when it is empty as without matching lines', async () => {
    const service = await serve({ allowed: (namespace) => namespace === 'bank' });
    const histogramOf = async (query: string) =>
      (await service.json(`operation=histogram&interval=10m&end_time=1795170599&${query}`))['histogram'];
    for (const start of ['start_time=1795168800', '']) {
      const found = await histogramOf(`${start}&namespaces=bank&pods=none`);
      expect(await histogramOf(`${start}&namespaces=shop`)).to.deep.equal(found);
      expect(record(found)['histograms']).to.have.length(start === '' ? 0 : 3);
    }
  });

  it('checks every namespace for a part of a name, so that the response time reveals nothing', async () => {
    const service = await serve({ allowed: (namespace) => namespace === 'bank' });
    const parts = ['a', 'shop', 'none', 'bank', 'o'];
    const totals = await Promise.all(parts.map((part) => total(service, `namespace_query=${part}`)));
    expect(totals).to.deep.equal([1, 0, 0, 1, 0]);
    expect(service.checkedNamespaces.toSorted()).to.deep.equal(['', 'bank', 'other', 'shop']);
  });

  describe('of cached permissions', () => {
    const JANE = { name: 'jane', uid: 'u', groups: ['dev'], extra: { k: ['v'] } };
    const call = { signal: new AbortController().signal };
    const OLD = '2026-11-20T09:00:00.000000000Z';
    const NEW = '2026-11-20T10:00:00.000000000Z';
    let now = 0;
    let checked: string[] = [];
    let since = OLD;
    let allowed: (namespace: string) => boolean = () => false;
    const newScopes = (
      names: readonly string[],
      onCheck: (attributes: Attributes) => void = () => undefined,
    ): Scopes =>
      new Scopes({
        authorizer: {
          authorize: async (attributes) => {
            onCheck(attributes);
            const namespace = 'namespace' in attributes ? attributes.namespace : '';
            checked.push(namespace);
            return { allowed: allowed(namespace), reason: '' };
          },
        },
        namespaces: () => new Map(names.map((name) => [name, { name, since }])),
        allowTtlMs: 10_000,
        denyTtlMs: 1_000,
        signal: call.signal,
        monotonic: () => now,
      });
    /** Namespaces checked by a query at the time. */
    const checkedAt = async (at: number, scopes: Scopes, filter?: NameFilter): Promise<string[]> => {
      now = at;
      checked = [];
      await scopes.of(JANE, filter, call);
      return checked.toSorted();
    };
    const namesOf = (scope: Scope): readonly string[] =>
      scope.everything ? [] : scope.namespaces.map(({ name }) => name);
    beforeEach(() => {
      now = 0;
      checked = [];
      since = OLD;
      allowed = (namespace) => namespace === 'shop' || namespace === 'bank';
    });

    it('is checked as `get pods/log` with all attributes of the caller', async () => {
      const attributes: Attributes[] = [];
      await newScopes(['shop'], (each) => attributes.push(each)).of(JANE, undefined, call);
      const resource = { group: '', version: 'v1', resource: 'pods', subresource: 'log', name: '' };
      expect(attributes).to.deep.equal([
        { user: JANE, verb: 'get', ...resource, namespace: '' },
        { user: JANE, verb: 'get', ...resource, namespace: 'shop' },
      ]);
    });

    it('is sorted by name, because live tails compare it', async () => {
      const scope = await newScopes(['shop', 'other', 'bank']).of(JANE, { exact: ['shop', 'bank'] }, call);
      expect(namesOf(scope)).to.deep.equal(['bank', 'shop']);
    });

    it('is checked once for each name, and never for an invalid name', async () => {
      const exact = ['shop', 'shop', 'Shop', 'a/b', '-a', '', 'x'.repeat(64)];
      expect(await checkedAt(0, newScopes(['shop']), { exact })).to.deep.equal(['', 'shop']);
    });

    it('is checked for each combination of user and groups', async () => {
      const scopes = newScopes(['shop']);
      const others = [{ name: 'john' }, { groups: [] }, { uid: '1' }, { extra: { a: ['b'] } }];
      for (const other of [{}, ...others]) {
        checked = [];
        await scopes.of({ ...JANE, ...other }, { exact: ['shop'] }, call);
        await scopes.of({ ...JANE, ...other }, { exact: ['shop'] }, call);
        expect(checked).to.deep.equal(['', 'shop']);
      }
    });

    it('is checked again after the TTL of an allowed or denied permission', async () => {
      const scopes = newScopes(['shop', 'bank', 'other']);
      expect(await checkedAt(0, scopes)).to.deep.equal(['', 'bank', 'other', 'shop']);
      expect(await checkedAt(999, scopes)).to.deep.equal([]);
      expect(await checkedAt(1_000, scopes)).to.deep.equal(['', 'other']);
      expect(await checkedAt(10_000, scopes)).to.deep.equal(['', 'bank', 'other', 'shop']);
    });

    it('is checked again for the whole cluster after the TTL', async () => {
      allowed = () => true;
      const scopes = newScopes([]);
      const isEverything = async (at: number): Promise<boolean> => {
        now = at;
        return (await scopes.of(JANE, undefined, call)).everything;
      };
      expect(await isEverything(0)).to.equal(true);
      allowed = () => false;
      expect(await isEverything(9_999)).to.equal(true);
      expect(await isEverything(10_000)).to.equal(false);
    });

    for (const isAllowed of [true, false]) {
      const [ttl, outcome] = isAllowed ? [10_000, 'allowed'] : [1_000, 'denied'];
      it(`is cached longer for more than 250 namespaces (${outcome})`, async () => {
        allowed = (namespace) => isAllowed && namespace !== '';
        const names = (count: number) => Array.from({ length: count }, (_, number) => `n-${number}`);
        const counts: number[] = [];
        for (const count of [250, 1_500]) {
          const scopes = newScopes(names(count));
          // Each time is after the TTL of the check of the whole cluster, or just before it.
          for (const at of [0, ttl - 1, ttl + 1, 6 * ttl - 1, 7 * ttl + 2]) {
            const cluster = (await checkedAt(at, scopes)).filter((name) => name !== '');
            counts.push(cluster.length);
          }
        }
        expect(counts).to.deep.equal([250, 0, 250, 250, 250, 1_500, 0, 0, 0, 1_500]);
      });
    }

    it('is not cached longer if most names do not exist', async () => {
      const scopes = newScopes(['shop', 'bank']);
      const exact = ['shop', ...Array.from({ length: 4_999 }, (_, n) => `made-up-${n}`)];
      await scopes.of(JANE, { exact }, call);
      expect(await checkedAt(10_000, scopes, { exact: ['shop'] })).to.deep.equal(['', 'shop']);
    });

    it('is empty if the namespace was recreated during the check', async () => {
      const scopes = newScopes(['shop']);
      allowed = (namespace) => {
        // The permission belongs to the new one.
        if (namespace === 'shop') since = NEW;
        return namespace === 'shop';
      };
      for (const filter of [{ exact: ['shop'] }, undefined]) {
        since = OLD;
        now += 10_000;
        expect(namesOf(await scopes.of(JANE, filter, call))).to.deep.equal([]);
        const expected = { everything: false, namespaces: [{ name: 'shop', since: NEW }] };
        expect(await scopes.of(JANE, filter, call)).to.deep.equal(expected);
      }
    });

    it('does not use an allowed permission of a deleted namespace of the same name', async () => {
      const scopes = newScopes(['shop']);
      expect(namesOf(await scopes.of(JANE, undefined, call))).to.deep.equal(['shop']);
      allowed = () => false;
      since = NEW;
      expect(namesOf(await scopes.of(JANE, undefined, call))).to.deep.equal([]);
      await scopes.of(JANE, undefined, call);
      expect(checked).to.deep.equal(['', 'shop', 'shop']);
    });

    it('is not checked again after a denial, so that the response time reveals nothing', async () => {
      allowed = () => false;
      const scopes = newScopes(['shop']);
      await scopes.of(JANE, { exact: ['shop'] }, call);
      since = NEW;
      expect(await checkedAt(0, scopes, { exact: ['shop'] })).to.deep.equal([]);
    });
  });

  it('checks 1,500 namespaces with a concurrency of 32', async () => {
    const namespaces = Object.fromEntries(
      Array.from({ length: 1_500 }, (_, number) => [`n-${number}`, '2020-01-01T00:00:00Z']),
    );
    let open = 0;
    let most = 0;
    const service = await serve({
      namespaces,
      allowed: async (namespace) => {
        if (namespace === '') return false;
        most = Math.max(most, (open += 1));
        await Promise.resolve();
        open -= 1;
        return true;
      },
      store: new MemoryLogStore([line('2026-11-20T10:00:00.000000000Z', 'x', { namespace: 'n-7' })]),
    });
    expect(await total(service)).to.equal(1);
    expect(most).to.be.above(1).and.at.most(32);
    expect(service.checkedNamespaces).to.have.length(1_501);
    await total(service);
    expect(service.checkedNamespaces).to.have.length(1_501);
  });

  it('is a 503 while the cluster is unavailable', async () => {
    const service = await serve({
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
