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

/** A store with so many containers; a list of them takes so many ms, counting them takes `countMs`. */
interface Containers {
  containers: number;
  listMs?: number;
  countMs?: number;
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
    return [told?.containers, searches.map((asked) => (isList(asked) ? 'list' : 'count')).join(', ')];
  }

  #answer(asked: Asked): string {
    const { containers, listMs = 1, countMs = 1 } = this.containers;
    if (!isList(asked)) {
      this.nowMs += countMs;
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

function isList({ body }: Asked): boolean {
  return 'list0' in (body['aggs'] as object);
}

function subject(containers: Containers): Promise<Subject> {
  return new Subject(containers).start();
}

describe('the containers of all lines of a time in OpenSearch', () => {
  it('are counted once, and listed as long as they are few', async () => {
    await using store = await subject({ containers: 2_000 });
    expect(await store.ask()).to.deep.equal([2_000, 'count']);
    expect(await store.ask()).to.deep.equal([2_000, 'list']);
    store.containers.containers = 7;
    expect(await store.ask()).to.deep.equal([7, 'list']);
  });

  it('are none where there are none', async () => {
    await using store = await subject({ containers: 0 });
    expect(await store.ask()).to.deep.equal([0, 'count']);
    expect(await store.ask()).to.deep.equal([0, 'list']);
  });

  it('are counted where they are many', async () => {
    await using store = await subject({ containers: 2_001 });
    expect(await store.ask()).to.deep.equal([2_001, 'count']);
    expect(await store.ask()).to.deep.equal([2_001, 'count']);
  });

  it('are counted when they have become more than a list holds, and for a while then', async () => {
    await using store = await subject({ containers: 7 });
    await store.ask();
    store.containers.containers = 2_001;
    expect(await store.ask()).to.deep.equal([2_001, 'list, count']);
    store.containers.containers = 7;
    expect(await store.ask()).to.deep.equal([7, 'count']);
    expect(await store.ask()).to.deep.equal([7, 'count']);
    store.nowMs += 10 * MINUTE;
    expect(await store.ask()).to.deep.equal([7, 'count']);
    expect(await store.ask()).to.deep.equal([7, 'list']);
  });

  it('are counted where lists take much longer three times in a row', async () => {
    await using store = await subject({ containers: 7, countMs: 40 });
    await store.ask();
    const ways: string[] = [];
    for (const listMs of [81, 81, 80, 81, 81, 81, 1, 1]) {
      store.containers.listMs = listMs;
      ways.push((await store.ask())[1]);
    }
    const list = 'list';
    expect(ways).to.deep.equal([list, list, list, list, list, list, 'count', 'count']);
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

  it('are listed where that takes longer by chance', async () => {
    for (const { countMs, listMs } of [
      { countMs: 1, listMs: 50 },
      { countMs: 40, listMs: 80 },
    ]) {
      await using store = await subject({ containers: 7, countMs, listMs });
      await store.ask();
      for (const _ of [1, 2, 3, 4]) expect(await store.ask()).to.deep.equal([7, 'list']);
    }
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
