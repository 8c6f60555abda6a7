import { expect } from 'chai';
import { array, record, text } from '../../../../../apis/reading/unknown-value.ts';
import type { Call, LogStore } from '../../../../../server/logging/log-store.ts';
import { LogService, line, NOW } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const LIMIT_MS = 5_000;
const STEP_MS = 1_000;
const RECORDS = [
  line('2026-11-20T09:59:59.000000000Z', 'one'),
  line('2026-11-20T10:00:00.000000000Z', 'two'),
  line('2026-11-20T10:00:01.000000000Z', 'three'),
];

describe('the time limit of a request to the store', () => {
  let now: number;
  /** Offset of the wall clock. */
  let jumped: number;
  let service: LogService;
  let onAsked: () => void;
  /** Time limits of the requests in ms. */
  let had: number[];

  beforeEach(async () => {
    now = 0;
    jumped = 0;
    had = [];
    onAsked = () => undefined;
    const inner = new MemoryLogStore(RECORDS);
    const took = <Answer>({ timeoutMs }: Call, answer: Promise<Answer>): Promise<Answer> => {
      had.push(timeoutMs);
      onAsked();
      now += STEP_MS;
      return answer;
    };
    const store: LogStore = {
      query: (selection, page, call) => took(call, inner.query(selection, page, call)),
      statistics: (selection, call) => took(call, inner.statistics(selection, call)),
      histogram: (selection, buckets, call) => took(call, inner.histogram(selection, buckets, call)),
      export: (selection, order, call) => inner.export(selection, order, call),
      follow: (selection, call) => inner.follow(selection, call),
    };
    service = await new LogService({
      store,
      limits: { queryTimeout: LIMIT_MS },
      namespaces: { shop: '2026-11-20T00:00:00Z' },
      allowed: (namespace) => {
        now += STEP_MS;
        return namespace === 'shop';
      },
      now: () => NOW + now + jumped,
      monotonic: () => now,
    }).start();
  });

  afterEach(() => service.stop());

  it('is the time left after the permission checks', async () => {
    await service.json('operation=statistics&namespaces=shop');
    expect(had).to.have.length(1);
    expect(had[0]).to.be.below(LIMIT_MS);
  });

  it('is the time left after the search for the first line of a histogram', async () => {
    await service.json('operation=histogram&namespaces=shop');
    const [first = 0, then] = had;
    expect(then).to.equal(first - STEP_MS);
  });

  for (const hours of [-1, 1]) {
    it(`is unaffected by a wall clock that is set ${hours < 0 ? 'back' : 'forward'}`, async () => {
      await service.json('operation=histogram&namespaces=shop');
      had = [];
      onAsked = () => {
        jumped = hours * 3_600_000;
      };
      const { took } = await service.json('operation=histogram&namespaces=shop');
      // The permissions are cached by now.
      expect(had).to.deep.equal([LIMIT_MS, LIMIT_MS - STEP_MS]);
      expect(took).to.equal(2 * STEP_MS);
    });
  }

  it('is the time left after the search for the record of a context', async () => {
    const { query } = await service.json('namespaces=shop&log_query=two');
    const id = text(record(array(record(query)['records'])[0])['id']);
    had = [];
    await service.json(`context=${id}&before=1&after=1`);
    const [behind = 0, before] = had;
    expect(before).to.equal(behind - STEP_MS);
  });
});
