// Tests of the time limit of requests to the log store.
import { expect } from 'chai';
import { text } from '../../../../../apis/reading/unknown-value.ts';
import type { Call } from '../../../../../server/logging/store/log-store.ts';
import { LogService, line, NOW } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const LIMIT_MS = 5_000;
const STEP_MS = 1_000;

/** Each call takes STEP_MS. */
class SlowStore extends MemoryLogStore {
  now = 0;
  /** Offset of the wall clock, which each call changes. */
  wallClockOffset = 0;
  timeouts: number[] = [];

  #call({ timeoutMs }: Call): void {
    this.timeouts.push(timeoutMs);
    this.now += STEP_MS;
    this.wallClockOffset -= 3_600_000;
  }

  override query(...parameters: Parameters<MemoryLogStore['query']>) {
    this.#call(parameters[2]);
    return super.query(...parameters);
  }

  override histogram(...parameters: Parameters<MemoryLogStore['histogram']>) {
    this.#call(parameters[2]);
    return super.histogram(...parameters);
  }
}

describe('the time limit of a request to the store', () => {
  let store: SlowStore;
  let service: LogService;

  beforeEach(async () => {
    store = new SlowStore([
      line('2026-11-20T09:59:59.000000000Z', 'one'),
      line('2026-11-20T10:00:00.000000000Z', 'two'),
    ]);
    service = await new LogService({
      store,
      limits: { queryTimeout: LIMIT_MS },
      namespaces: { shop: '2026-11-20T00:00:00Z' },
      allowed: (namespace) => {
        store.now += STEP_MS;
        return namespace === 'shop';
      },
      now: () => NOW + store.now + store.wallClockOffset,
      monotonic: () => store.now,
    }).start();
  });
  afterEach(() => service.stop());

  it('is the time left after the permission checks and earlier requests, by the monotonic clock', async () => {
    const { took } = await service.json('operation=histogram&namespaces=shop');
    // Two checks, the search for the first line, and the histogram.
    expect(store.timeouts).to.deep.equal([LIMIT_MS - 2 * STEP_MS, LIMIT_MS - 3 * STEP_MS]);
    expect(took).to.equal(4 * STEP_MS);
  });

  it('is the time left after the search for the record of a context', async () => {
    const [found] = await service.records('namespaces=shop&log_query=two');
    store.timeouts = [];
    await service.json(`context=${text(found?.['id'])}&before=1&after=1`);
    expect(store.timeouts).to.deep.equal([LIMIT_MS, LIMIT_MS - STEP_MS]);
  });
});
