// Tests of the check of records from log stores: a store that ignores the scope of a query discloses no line.
import { expect } from 'chai';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import type { Selection } from '../../../../../server/logging/store/log-store.ts';
import { LOGS, LogService, line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

/** The last one. */
const OWN = line('2026-11-20T10:00:03.000000000Z', 'of the shop');
const RECORDS = [
  line('2026-11-20T10:00:00.000000000Z', 'of the earlier shop'),
  line('2026-11-20T10:00:02.500000000Z', 'of the bank', { namespace: 'bank' }),
  line('2026-11-20T10:00:02.600000000Z', 'of both', { namespace: 'bank,shop' }),
  line('2026-11-20T10:00:02.700000000Z', 'of no namespace', { namespace: '' }),
];

/** Returns the lines of all namespaces. */
class CarelessStore extends MemoryLogStore {
  override query(...[selection, ...rest]: Parameters<MemoryLogStore['query']>) {
    return super.query(unscoped(selection), ...rest);
  }

  override export(...[selection, ...rest]: Parameters<MemoryLogStore['export']>) {
    return super.export(unscoped(selection), ...rest);
  }

  override follow(...[selection, ...rest]: Parameters<MemoryLogStore['follow']>) {
    return super.follow(unscoped(selection), ...rest);
  }
}

function unscoped(selection: Selection): Selection {
  return { ...selection, scope: { everything: true } };
}

describe('a log store that ignores the scope of a query', () => {
  let service: LogService;

  const serve = (records = [...RECORDS, OWN]): Promise<LogService> =>
    new LogService({
      store: new CarelessStore(records),
      namespaces: { shop: '2026-11-20T10:00:01Z', bank: '2020-01-01T00:00:00Z' },
      allowed: (namespace) => namespace === 'shop',
    }).start();

  beforeEach(async () => {
    service = await serve();
  });
  afterEach(() => service.stop());

  it('discloses no line in pages and around a record, which are partial', async () => {
    const page = await service.json('size=10');
    expect(page).to.have.nested.property('partial[0].reason', 'NotCovered');
    expect(await service.lines('size=10')).to.deep.equal(['of the shop']);
    const id = String((await service.records('size=10'))[0]?.['id']);
    expect(await service.lines(`context=${id}`)).to.deep.equal(['of the shop']);
    const seen: unknown[] = [];
    for await (const { query } of service.pages('size=1')) seen.push(...[record(query)['records']].flat());
    expect(seen.map((each) => record(each)['log'])).to.deep.equal(['of the shop']);
  });

  it('discloses no line in exports, which are incomplete', async () => {
    const { body } = await service.ask('operation=export&sort=asc');
    const [first, second = ''] = body.toString().split('\n');
    expect(first).to.equal('of the shop');
    expect(second.startsWith('\u0004 incomplete: NotCovered: ')).to.equal(true);
  });

  it('discloses no line in live tails', async () => {
    let seen = '';
    for await (const chunk of await service.server.open(`${LOGS}?follow=true&start_time=0`)) {
      seen += String(chunk);
      if (seen.includes(OWN.log)) break;
    }
    expect(seen).not.to.match(/bank|earlier|both|no namespace/);
  });

  it('causes one warning', async () => {
    await service.lines('size=10');
    await service.lines('size=10');
    expect(service.warnings).to.equal(1);
    await using right = await serve([OWN]);
    expect(await right.json('size=10')).not.to.have.property('partial');
    expect(right.warnings).to.equal(0);
  });
});
