import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import { Scopes, type ScopesOptions } from '../../../../../server/logging/access/scope.ts';
import { BEGINNING } from '../../../../../server/logging/instant.ts';
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
    expect(service.asked).to.deep.equal(['']);
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
    const answers = await Promise.all(
      ['bank', 'gone', 'never'].flatMap((name) =>
        ['query', 'statistics', 'histogram', 'export'].map(async (operation) => [
          operation,
          strip(await service.ask(`operation=${operation}&namespaces=${name}`)),
        ]),
      ),
    );
    expect(new Set(answers.map(String)).size).to.equal(4);
    // All three are checked, so that the response time reveals nothing.
    expect(service.asked).to.include.members(['bank', 'gone', 'never']);
  });

  it('excludes a namespace that does not exist, even if it is allowed', async () => {
    const service = await serve({ allowed: (namespace) => namespace !== '' });
    expect(await total(service, 'namespaces=never')).to.equal(0);
    expect(await total(service, 'namespaces=never,bank')).to.equal(1);
  });

  it('does not reach the store when it is empty', async () => {
    const store = new Proxy(new MemoryLogStore([]), {
      get: () => {
        throw new Error('the store was asked');
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
    expect(service.asked.toSorted()).to.deep.equal(['', 'bank', 'other', 'shop']);
  });

  it('is checked as `get pods/log` with all attributes of the caller', async () => {
    const asked: unknown[] = [];
    const authorize: ScopesOptions['authorizer']['authorize'] = (attributes) => {
      asked.push(attributes);
      return { allowed: false, reason: '' };
    };
    const { signal } = new AbortController();
    const namespaces = () => new Map([['shop', { name: 'shop', since: BEGINNING }]]);
    const ttls = { allowTtlMs: 10_000, denyTtlMs: 10_000 };
    const user = { name: 'jane', uid: 'u', groups: ['dev'], extra: { k: ['v'] } };
    await new Scopes({ authorizer: { authorize }, namespaces, ...ttls, signal }).of(user, undefined, {
      signal,
    });
    const read = {
      user,
      verb: 'get',
      group: '',
      version: 'v1',
      resource: 'pods',
      subresource: 'log',
      name: '',
    };
    expect(asked).to.deep.equal([
      { ...read, namespace: '' },
      { ...read, namespace: 'shop' },
    ]);
  });

  for (const may of [true, false]) {
    it(`is cached longer for more namespaces (${may ? 'allowed' : 'denied'})`, () => remembered(may));
  }

  async function remembered(may: boolean): Promise<void> {
    const user = { name: 'jane', uid: '', groups: [], extra: {} };
    let now = 0;
    const asked: number[] = [];
    for (const count of [250, 1_500]) {
      let questions = 0;
      const scopes = new Scopes({
        authorizer: {
          authorize: async (attributes) => {
            questions += 1;
            return { allowed: may && 'namespace' in attributes && attributes.namespace !== '', reason: '' };
          },
        },
        namespaces: () =>
          new Map(
            Array.from({ length: count }, (_, number) => {
              const name = `n-${number}`;
              return [name, { name, since: '2020-01-01T00:00:00.000000000Z' }];
            }),
          ),
        allowTtlMs: 10_000,
        denyTtlMs: 10_000,
        signal: new AbortController().signal,
        monotonic: () => now,
      });
      const look = async (at: number): Promise<number> => {
        const before = questions;
        now = at;
        const scope = await scopes.of(user, undefined, { signal: new AbortController().signal });
        expect(scope)
          .to.have.property('namespaces')
          .with.length(may ? count : 0);
        return questions - before;
      };
      asked.push(
        await look(0),
        await look(9_999),
        await look(10_001),
        await look(59_999),
        await look(70_002),
      );
    }
    // The cluster-wide permission is checked after each TTL.
    expect(asked).to.deep.equal([251, 0, 251, 251, 251, 1_501, 0, 1, 1, 1_501]);
  }

  it('is sorted by name, because live tails compare it', async () => {
    const { signal } = new AbortController();
    const seen = (known: readonly string[], exact?: readonly string[]) =>
      new Scopes({
        authorizer: {
          authorize: (attributes) => ({
            allowed: 'namespace' in attributes && attributes.namespace !== '',
            reason: '',
          }),
        },
        namespaces: () => new Map(known.map((name) => [name, { name, since: BEGINNING }])),
        allowTtlMs: 10_000,
        denyTtlMs: 10_000,
        signal,
      }).of({ name: 'jane', uid: '', groups: [], extra: {} }, exact && { exact }, { signal });
    const inOrder = {
      everything: false,
      namespaces: ['a', 'b', 'c', 'd'].map((name) => ({ name, since: BEGINNING })),
    };
    expect(await seen(['c', 'a', 'd', 'b'])).to.deep.equal(inOrder);
    expect(await seen(['a', 'b', 'c', 'd'])).to.deep.equal(inOrder);
    expect(await seen(['a', 'b', 'c', 'd'], ['d', 'b', 'a', 'c'])).to.deep.equal(inOrder);
  });

  describe('of a recreated namespace', () => {
    const JANE = { name: 'jane', uid: '', groups: [], extra: {} };
    const scope = { signal: new AbortController().signal };
    const OLD = '2026-11-20T09:00:00.000000000Z';
    const NEW = '2026-11-20T10:00:00.000000000Z';
    let since = OLD;
    let now = 0;
    let asked: string[] = [];
    const scopes = (allowed: (namespace: string) => boolean): Scopes =>
      new Scopes({
        authorizer: {
          authorize: async (attributes) => {
            const namespace = 'namespace' in attributes ? attributes.namespace : '';
            asked.push(namespace);
            return { allowed: allowed(namespace), reason: '' };
          },
        },
        namespaces: () => new Map([['shop', { name: 'shop', since }]]),
        allowTtlMs: 10_000,
        denyTtlMs: 10_000,
        signal: scope.signal,
        monotonic: () => now,
      });
    beforeEach(() => {
      since = OLD;
      now = 0;
      asked = [];
    });

    it('is empty if the namespace was recreated during the check', async () => {
      const rights = scopes((namespace) => {
        // The permission belongs to the new one.
        if (namespace === 'shop') since = NEW;
        return namespace === 'shop';
      });
      for (const filter of [{ exact: ['shop'] }, undefined]) {
        since = OLD;
        now += 10_000;
        expect(await rights.of(JANE, filter, scope)).to.deep.equal({ everything: false, namespaces: [] });
        expect(await rights.of(JANE, filter, scope)).to.deep.equal({
          everything: false,
          namespaces: [{ name: 'shop', since: NEW }],
        });
      }
    });

    it('does not use an allowed permission of its predecessor', async () => {
      let may = true;
      const rights = scopes((namespace) => namespace === 'shop' && may);
      expect(await rights.of(JANE, undefined, scope))
        .to.have.property('namespaces')
        .with.length(1);
      may = false;
      since = NEW;
      expect(await rights.of(JANE, undefined, scope))
        .to.have.property('namespaces')
        .with.length(0);
      await rights.of(JANE, undefined, scope);
      expect(asked).to.deep.equal(['', 'shop', 'shop']);
    });

    it('is not checked again after a denial, so that the response time reveals nothing', async () => {
      const rights = scopes(() => false);
      await rights.of(JANE, { exact: ['shop'] }, scope);
      since = NEW;
      await rights.of(JANE, { exact: ['shop'] }, scope);
      expect(asked).to.deep.equal(['', 'shop']);
    });
  });

  describe('is checked', () => {
    const JANE = { name: 'jane', uid: '', groups: ['dev'], extra: {} };
    const scope = { signal: new AbortController().signal };
    let now = 0;
    let asked: string[] = [];
    const scopes = (): Scopes =>
      new Scopes({
        authorizer: {
          authorize: async (attributes) => {
            const namespace = 'namespace' in attributes ? attributes.namespace : '';
            asked.push(namespace);
            return { allowed: namespace === 'shop' || namespace === 'bank', reason: '' };
          },
        },
        namespaces: () =>
          new Map(['shop', 'bank', 'other'].map((name) => [name, { name, since: BEGINNING }])),
        allowTtlMs: 10_000,
        denyTtlMs: 1_000,
        signal: scope.signal,
        monotonic: () => now,
      });
    beforeEach(() => {
      now = 0;
      asked = [];
    });

    it('for each combination of user and groups', async () => {
      const rights = scopes();
      for (const caller of [
        JANE,
        { ...JANE, groups: [] },
        { ...JANE, uid: '1' },
        { ...JANE, extra: { a: ['b'] } },
      ]) {
        asked = [];
        await rights.of(caller, { exact: ['shop'] }, scope);
        await rights.of({ ...caller }, { exact: ['shop'] }, scope);
        expect(asked).to.deep.equal(['', 'shop']);
      }
    });

    it('once for each name, and never for an invalid name', async () => {
      const exact = ['shop', 'shop', 'Shop', 'a/b', '-a', '', 'x'.repeat(64)];
      const seen = await scopes().of(JANE, { exact }, scope);
      expect(seen).to.deep.equal({ everything: false, namespaces: [{ name: 'shop', since: BEGINNING }] });
      expect(asked).to.deep.equal(['', 'shop']);
    });

    it('for all namespaces if a part of a name is given', async () => {
      const seen = await scopes().of(JANE, { contains: ['BAN'] }, scope);
      expect(seen).to.deep.equal({ everything: false, namespaces: [{ name: 'bank', since: BEGINNING }] });
    });

    it('again after the TTL of an allowed or denied permission', async () => {
      const rights = scopes();
      const look = async (at: number): Promise<string[]> => {
        now = at;
        asked = [];
        await rights.of(JANE, undefined, scope);
        return asked.toSorted();
      };
      expect(await look(0)).to.deep.equal(['', 'bank', 'other', 'shop']);
      expect(await look(999)).to.deep.equal([]);
      expect(await look(1_000)).to.deep.equal(['', 'other']);
      expect(await look(10_000)).to.deep.equal(['', 'bank', 'other', 'shop']);
    });

    it('again for the whole cluster after the TTL', async () => {
      let may = true;
      const rights = new Scopes({
        authorizer: { authorize: () => ({ allowed: may, reason: '' }) },
        namespaces: () => new Map(),
        allowTtlMs: 10_000,
        denyTtlMs: 1_000,
        signal: scope.signal,
        monotonic: () => now,
      });
      const seesEverything = async (at: number): Promise<boolean> => {
        now = at;
        return (await rights.of(JANE, undefined, scope)).everything;
      };
      expect(await seesEverything(0)).to.equal(true);
      may = false;
      expect(await seesEverything(9_999)).to.equal(true);
      expect(await seesEverything(10_000)).to.equal(false);
    });

    it('again after the same TTL if most names do not exist', async () => {
      const rights = scopes();
      const exact = ['shop', ...Array.from({ length: 4_999 }, (_, n) => `made-up-${n}`)];
      await rights.of(JANE, { exact }, scope);
      now = 10_000;
      asked = [];
      await rights.of(JANE, { exact: ['shop'] }, scope);
      expect(asked).to.deep.equal(['', 'shop']);
    });

    it('again after eviction by 256 other callers', async () => {
      const rights = scopes();
      const filter = { exact: ['shop'] };
      await rights.of(JANE, filter, scope);
      for (let n = 0; n < 255; n++) await rights.of({ ...JANE, name: `n-${n}` }, filter, scope);
      asked = [];
      await rights.of(JANE, filter, scope);
      expect(asked).to.deep.equal([]);
      for (let n = 0; n < 256; n++) await rights.of({ ...JANE, name: `m-${n}` }, filter, scope);
      asked = [];
      await rights.of(JANE, filter, scope);
      expect(asked).to.deep.equal(['', 'shop']);
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
    expect(service.asked).to.have.length(1_501);
    await total(service);
    expect(service.asked).to.have.length(1_501);
  });

  it('is a 503 while the cluster is unavailable', async () => {
    const service = await serve({
      allowed: (namespace) => {
        if (namespace === 'bank') throw newServiceUnavailable('the cluster gave no answer');
        return namespace === 'shop';
      },
    });
    expect((await service.ask('')).status).to.equal(503);
    expect((await service.ask('operation=export')).status).to.equal(503);
    expect(await total(service, 'namespaces=shop')).to.equal(1);
  });
});
