// Tests of log queries for the lines before and after one line.
import { expect } from 'chai';
import { array, record, text } from '../../../../../apis/reading/unknown-value.ts';
import { LogService, line, NOW, recordsIn } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const SAME = '2026-11-20T10:00:00.123456789Z';
const RECORDS = [
  line('2026-11-20T09:59:58.000000000Z', 'one'),
  line('2026-11-20T09:59:59.000000000Z', 'two'),
  // Equal milliseconds, and two equal nanoseconds.
  line('2026-11-20T10:00:00.123456788Z', 'three'),
  line(SAME, 'four'),
  line(SAME, 'five'),
  line('2026-11-20T10:00:00.123999999Z', 'six'),
  line('2026-11-20T10:00:01.000000000Z', 'seven'),
  line('2026-11-20T10:00:00.123456789Z', 'of another container', { container: 'sidecar' }),
];

async function firstID(service: LogService, query: string): Promise<string> {
  return text((await service.records(query))[0]?.['id']);
}

describe('surrounding lines', () => {
  let service: LogService;
  beforeEach(async () => {
    service = await new LogService({
      store: new MemoryLogStore(RECORDS),
      namespaces: { shop: '2026-11-20T09:59:59Z' },
      allowed: (namespace) => namespace === 'shop',
    }).start();
  });
  afterEach(() => service.stop());

  const idOf = (log: string) => firstID(service, `match=substring&log_query=${log}`);
  const around = async (log: string, query: string): Promise<string[]> =>
    service.lines(`context=${await idOf(log)}&${query}`);

  it('are those of the container, oldest first, with the record', async () => {
    expect(await around('four', 'before=1&after=1')).to.deep.equal(['three', 'four', 'five']);
    expect(await around('five', 'before=1&after=1')).to.deep.equal(['four', 'five', 'six']);
    expect(await around('six', 'before=2&after=5')).to.deep.equal(['four', 'five', 'six', 'seven']);
    expect(await around('seven', 'before=0&after=0')).to.deep.equal(['seven']);
  });

  it('ignore other filters', async () => {
    const query = 'before=0&after=1&log_query=four&sort=desc&size=1';
    expect(await around('four', query)).to.deep.equal(['four', 'five']);
  });

  it('exclude lines before the creation of the namespace', async () => {
    expect(await around('three', 'before=10&after=0')).to.deep.equal(['two', 'three']);
  });

  it('are a 404 if the record does not exist or is not readable', async () => {
    const id = await idOf('four');
    const [time, ...names] = JSON.parse(Buffer.from(id, 'base64url').toString()) as string[];
    const other = Buffer.from(JSON.stringify([time, ...names.slice(0, 3), 'x'])).toString('base64url');
    const foreign = Buffer.from(JSON.stringify([time, 'bank', ...names.slice(1)])).toString('base64url');
    for (const one of [other, foreign]) {
      const { status, body } = await service.ask(`context=${one}`);
      expect(status).to.equal(404);
      const { message, details } = record(JSON.parse(body.toString()));
      expect(message).to.equal(
        'context: the record does not exist, or you have no permission to read the logs of its namespace',
      );
      expect(details).to.deep.include({ name: one, group: 'logging.platform.io', kind: 'logs' });
      expect(array(record(details)['causes'])).to.have.nested.property('[0].field', 'context');
    }
  });

  it('are not requested from the store without permission', async () => {
    const id = await idOf('four');
    const store = Object.assign(new MemoryLogStore([]), {
      query: () => {
        throw new Error('the store was queried');
      },
    });
    await using blind = await new LogService({ store, allowed: () => false }).start();
    expect((await blind.ask(`context=${id}`)).status).to.equal(404);
  });

  it('are not a 404 if the search was incomplete', async () => {
    const id = await idOf('four');
    for (const [reason, code] of [
      ['Timeout', 504],
      ['ShardFailed', 503],
      ['NotCovered', 404],
    ] as const) {
      const shortfalls = [{ reason, message: 'something is missing' }];
      const total = { count: 0, relation: 'gte' } as const;
      const store = Object.assign(new MemoryLogStore([]), {
        query: async () => ({ total, records: [], next: undefined, shortfalls }),
      });
      await using blind = await new LogService({ store }).start();
      const { status, body } = await blind.ask(`context=${id}`);
      expect(status, reason).to.equal(code);
      if (code !== 404) expect(body.toString()).to.include('"retryAfterSeconds":5');
    }
  });

  it('are the nearest ones that fit if lines are long', async () => {
    const long = Array.from({ length: 30 }, (_, number) =>
      line(`2026-11-20T10:00:00.0000000${10 + number}Z`, `${number} ${'a'.repeat(1 << 20)}`),
    );
    await using wide = await new LogService({ store: new MemoryLogStore(long) }).start();
    const id = await firstID(wide, 'size=1&sort=asc&from=15');
    const answer = await wide.json(`context=${id}&before=15&after=15`);
    const found = recordsIn(answer).map(({ log }) => parseInt(text(log), 10));
    expect(found).to.deep.equal([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
    expect(record(array(answer['partial'])[0])).to.include({ reason: 'Limit' });
  });

  it('are found among thousands of equal times', async () => {
    const many = Array.from({ length: 6_000 }, (_, number) => line(SAME, `line ${number}`));
    const before = Array.from({ length: 3 }, (_, number) =>
      line(`2026-11-20T09:00:00.00000000${number}Z`, `before ${number}`),
    );
    const store = new MemoryLogStore([...before, ...many]);
    await using busy = await new LogService({ store }).start();
    const all = (await Array.fromAsync(busy.pages('size=1000&sort=asc'), recordsIn)).flat();
    expect(all).to.have.length(6_003);
    for (const [at, before] of [
      [5, 20],
      [120, 200],
      [1_500, 20],
    ] as const) {
      const found = await busy.lines(`context=${text(all[at]?.['id'])}&before=${before}&after=10`);
      expect(found).to.deep.equal(all.slice(Math.max(0, at - before), at + 11).map(({ log }) => log));
    }
    const last = await busy.ask(`context=${text(all.at(-1)?.['id'])}`);
    expect(last.status).to.equal(400);
    expect(last.body.toString()).to.include('context: is a record of a millisecond with too many lines');
  });

  it('are found for a line of a clock that is ahead', async () => {
    const ahead = new Date(NOW + 60_000).toISOString().replace('Z', '000000Z');
    const store = new MemoryLogStore([...RECORDS, line(ahead, 'ahead')]);
    await using early = await new LogService({ store }).start();
    const id = await firstID(early, `size=1&end_time=${NOW / 1000 + 120}`);
    expect(await early.lines(`context=${id}&before=1`)).to.deep.equal(['seven', 'ahead']);
  });

  it('are rejected for an invalid id', async () => {
    const made = (time: string): string =>
      Buffer.from(JSON.stringify([time, 'shop', 'p', 'c', 'd'])).toString('base64url');
    const ids = ['a', '0000-01-01T00:00:00.000000000Z', '9999-12-31T23:59:59.999999999Z'].map(made);
    for (const id of ['x', 'e30', ...ids]) {
      const answer = await service.ask(`context=${id}`);
      expect(answer.status).to.equal(400);
      expect(answer.body.toString()).to.include('context: is not the `id` of a record');
    }
  });
});
