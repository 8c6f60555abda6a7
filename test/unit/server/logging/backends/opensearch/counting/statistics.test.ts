import { expect } from 'chai';
import type { Selection } from '../../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../../support/logging/opensearch-store.ts';
import {
  ANSWERED,
  type Asked,
  answer,
  call,
  type ScriptedStore,
  SELECTION,
  scriptedStore,
} from '../scripted-store.ts';

const MINUTE = 60_000;

/** A store with so many containers, and how many ms it takes in each way. */
interface Containers {
  containers: number;
  listMs?: number;
  fewMs?: number;
}

class Subject implements AsyncDisposable {
  readonly containers: Containers;
  nowMs = 0;
  #store: ScriptedStore | undefined;
  #log: ReturnType<typeof storeAt> | undefined;

  constructor(containers: Containers) {
    this.containers = containers;
  }

  async start(): Promise<this> {
    this.#store = await scriptedStore((asked) => this.#answer(asked));
    this.#log = storeAt(this.#store.url, { now: () => this.nowMs });
    return this;
  }

  /** The containers that are told, and how the store was asked for them. */
  async ask(selection = SELECTION): Promise<readonly [containers: number | undefined, ways: string]> {
    const begin = this.#store?.asked.length ?? 0;
    const told = await this.#log?.statistics(selection, call());
    const searches = this.#store?.asked.slice(begin).filter(({ path }) => path.includes('/_search')) ?? [];
    return [told?.containers, searches.map(wayOf).join(', ')];
  }

  #answer(asked: Asked): string {
    const { containers, listMs = 1, fewMs = 2 } = this.containers;
    if (!isList(asked)) {
      this.nowMs += wayOf(asked) === 'few' ? fewMs : 1;
      return answer([], { aggregations: { containers0: { value: containers } } });
    }
    this.nowMs += listMs;
    const { list0 } = asked.body['aggs'] as { list0: { terms: { size: number } } };
    const listed = Math.min(containers, list0.terms.size);
    const aggregations = {
      list0: { sum_other_doc_count: containers - listed },
      containers0: { count: listed },
    };
    return answer([], { aggregations });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store?.[Symbol.asyncDispose]();
  }
}

function wayOf(asked: Asked): 'list' | 'few' | 'count' {
  if (isList(asked)) return 'list';
  const { containers0 } = asked.body['aggs'] as {
    containers0: { cardinality: { precision_threshold: number } };
  };
  return containers0.cardinality.precision_threshold === 3_000 ? 'few' : 'count';
}

function isList({ body }: Asked): boolean {
  return 'list0' in (body['aggs'] as object);
}

function subject(containers: Containers): Promise<Subject> {
  return new Subject(containers).start();
}

describe('the containers of all lines of a time in OpenSearch', () => {
  it('are counted once, and then, as long as they are few, in the way that proves quicker', async () => {
    for (const [listMs, fewMs, quicker] of [
      [10, 20, 'list'],
      [20, 10, 'few'],
    ] as const) {
      await using store = await subject({ containers: 2_000, listMs, fewMs });
      const ways: string[] = [];
      for (let n = 0; n < 7; n++) {
        const [containers, way] = await store.ask();
        expect(containers).to.equal(2_000);
        ways.push(way);
      }
      expect(ways).to.deep.equal(['count', 'list', 'few', 'list', 'few', quicker, quicker]);
    }
  });

  it('are none where there are none', async () => {
    await using store = await subject({ containers: 0 });
    for (const way of ['count', 'list', 'few']) expect(await store.ask()).to.deep.equal([0, way]);
  });

  it('are counted where they are many', async () => {
    await using store = await subject({ containers: 2_001 });
    expect(await store.ask()).to.deep.equal([2_001, 'count']);
    expect(await store.ask()).to.deep.equal([2_001, 'count']);
  });

  it('are counted when they have become more than few, and for a while then', async () => {
    for (const way of ['list', 'few']) {
      await using store = await subject({ containers: 7 });
      await store.ask();
      if (way === 'few') await store.ask();
      store.containers.containers = 2_001;
      expect(await store.ask()).to.deep.equal([2_001, `${way}, count`]);
      store.containers.containers = 7;
      expect(await store.ask()).to.deep.equal([7, 'count']);
      expect(await store.ask()).to.deep.equal([7, 'count']);
      store.nowMs += 10 * MINUTE;
      expect(await store.ask()).to.deep.equal([7, 'count']);
      expect(await store.ask()).to.deep.equal([7, 'list']);
    }
  });

  it('are counted in the other way when the one takes long again and again, not when it does so once', async () => {
    await using store = await subject({ containers: 7, listMs: 10, fewMs: 20 });
    for (let n = 0; n < 5; n++) await store.ask();
    const ways: string[] = [];
    for (const listMs of [40, 10, 30, 30, 30, 10]) {
      store.containers.listMs = listMs;
      ways.push((await store.ask())[1]);
    }
    expect(ways).to.deep.equal(['list', 'list', 'list', 'list', 'list', 'few']);
  });

  it('are counted in a way again that was slow at first, and less and less often while it stays so', async () => {
    await using store = await subject({ containers: 7, listMs: 40, fewMs: 10 });
    const asked = async (times: number): Promise<string[]> => {
      const ways: string[] = [];
      for (let n = 0; n < times; n++) ways.push((await store.ask())[1]);
      return ways;
    };
    const few = (times: number): string[] => Array.from({ length: times }, () => 'few');
    expect(await asked(5)).to.deep.equal(['count', 'list', 'few', 'list', 'few']);
    expect(await asked(8)).to.deep.equal([...few(7), 'list']);
    expect(await asked(17)).to.deep.equal([...few(16), 'list']);
    store.containers.listMs = 5;
    expect(await asked(34)).to.deep.equal([...few(32), 'list', 'list']);
  });

  it('are tried anew after a while, and for times of another length', async () => {
    await using store = await subject({ containers: 7, listMs: 10, fewMs: 5 });
    for (let n = 0; n < 5; n++) await store.ask();
    const hour = { ...SELECTION, range: { ...SELECTION.range, end: '2026-01-15T01:00:00.000000000Z' } };
    expect(await store.ask(hour)).to.deep.equal([7, 'count']);
    expect(await store.ask(hour)).to.deep.equal([7, 'list']);
    expect(await store.ask()).to.deep.equal([7, 'few']);
    store.nowMs += 10 * MINUTE;
    expect(await store.ask()).to.deep.equal([7, 'count']);
  });

  it('are counted where the store refuses to list so many, and for a while then', async () => {
    await using store = await scriptedStore((asked, response) => {
      if (!isList(asked)) return answer([], { aggregations: { containers0: { value: 7 } } });
      const reason = { type: 'too_many_buckets_exception', reason: 'more than 100' };
      response.writeHead(503).end(JSON.stringify({ error: { root_cause: [reason], ...reason } }));
      return ANSWERED;
    });
    const log = storeAt(store.url);
    for (const _ of [1, 2, 3]) expect(await log.statistics(SELECTION, call())).to.include({ containers: 7 });
    const searches = store.asked.filter(({ path }) => path.includes('/_search'));
    expect(searches.map(isList)).to.deep.equal([false, true, false, false]);
  });

  it('are counted where not all lines are meant', async () => {
    await using store = await subject({ containers: 7 });
    const some: Selection = { ...SELECTION, pods: { exact: ['web-1'] } };
    expect(await store.ask()).to.deep.equal([7, 'count']);
    expect(await store.ask(some)).to.deep.equal([7, 'count']);
    expect(await store.ask(some)).to.deep.equal([7, 'count']);
  });

  it('are not known where the list does not say whether it is whole', async () => {
    await using store = await scriptedStore((asked) =>
      answer([], { aggregations: { containers0: isList(asked) ? { count: 7 } : { value: 7 }, list0: {} } }),
    );
    const log = storeAt(store.url);
    await log.statistics(SELECTION, call());
    const error: unknown = await log.statistics(SELECTION, call()).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 503 });
    expect(error).to.have.nested.property('cause.message', 'list.sum_other_doc_count is not a count');
  });

  it('leave the values of a list in the store', async () => {
    await using store = await scriptedStore((asked) =>
      answer([], {
        aggregations: isList(asked)
          ? { list0: { sum_other_doc_count: 0 }, containers0: { count: 7 } }
          : { containers0: { value: 7 } },
      }),
    );
    const log = storeAt(store.url);
    await log.statistics(SELECTION, call());
    await log.statistics(SELECTION, call());
    const [counted, listed] = store.asked.filter(({ path }) => path.includes('/_search'));
    expect(counted?.path).not.to.contain('filter_path');
    expect(listed?.path).to.contain(`filter_path=${encodeURIComponent('-aggregations.*.buckets')}`);
  });
});
