import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import type { LogRecord } from '../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { ANSWERED, type Asked, answer, call, type Line, SELECTION, scriptedStore } from './scripted-store.ts';

const KEY = '1768471200123456789';

/** Answers as a store with these lines does, whatever is asked but for the page. */
function searched(lines: readonly Line[], asked: Asked): string {
  const after = /"search_after":\[(-?\d+),(-?\d+)\]/.exec(asked.text);
  const behind = lines.filter(({ key, sequence }) => {
    if (!after) return true;
    const [, time = '0', number = '0'] = after;
    return BigInt(key) > BigInt(time) || (key === time && sequence > Number(number));
  });
  const from = Number(asked.body['from'] ?? 0);
  return answer(behind.slice(from, from + Number(asked.body['size'])));
}

async function allPages(lines: readonly Line[], size: number): Promise<string[][]> {
  await using store = await scriptedStore((asked) => searched(lines, asked));
  const backend = storeAt(store.url);
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const page = await backend.query(
      SELECTION,
      { order: 'asc', size, from: 0, ...(after === undefined ? {} : { after }) },
      call(),
    );
    pages.push(page.records.map(({ log }) => log));
    after = page.next;
  } while (after !== undefined && pages.length < 100);
  return pages;
}

describe('pages', () => {
  it('neither skip nor repeat records of shards that share time and sequence number', async () => {
    const lines = Array.from({ length: 23 }, (_, n) => ({
      id: `line-${n}`,
      key: KEY,
      sequence: Math.floor(n / 5),
    }));
    for (const size of [1, 2, 3, 4, 7, 22, 23, 24]) {
      const pages = await allPages(lines, size);
      expect(pages.flat(), `pages of ${size}`).to.deep.equal(lines.map(({ id }) => id));
      expect(pages).to.have.length(Math.ceil(lines.length / size));
    }
  });

  it('read what was given of a key once more, however many there are, and no more than that', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => ({ id: `line-${n}`, key: KEY, sequence: 7 }));
    const sizes: number[] = [];
    await using store = await scriptedStore((asked) => {
      sizes.push(Number(asked.body['size']));
      return searched(lines, asked);
    });
    const logs: string[] = [];
    let after: string | undefined;
    do {
      const page = { order: 'asc', size: 1, from: 0, ...(after === undefined ? {} : { after }) } as const;
      const { records, next } = await storeAt(store.url).query(SELECTION, page, call());
      logs.push(...records.map(({ log }) => log));
      after = next;
    } while (after !== undefined);
    expect(logs).to.deep.equal(lines.map(({ id }) => id));
    expect(sizes).to.deep.equal(lines.map((_, n) => n + 2));
  });

  it('keep all digits of times in nanoseconds', async () => {
    const lines = Array.from({ length: 9 }, (_, n) => ({
      id: `line-${n}`,
      key: String(BigInt(KEY) + BigInt(n)),
      sequence: 5,
    }));
    expect((await allPages(lines, 2)).flat()).to.deep.equal(lines.map(({ id }) => id));
  });

  it('are not led astray by lines that look like sort keys', async () => {
    const log = '"sort":[1,2] \\"sort\\":[3,4]';
    const lines = Array.from({ length: 5 }, (_, n) => ({ id: `line-${n}`, key: KEY, sequence: n, log }));
    expect((await allPages(lines, 2)).flat()).to.have.length(5);
  });

  it('go on nowhere else than where an earlier page ended', async () => {
    await using store = await scriptedStore(() => answer([]));
    for (const after of [
      '',
      'x',
      '1.2.3',
      '1.x',
      '-1.-1',
      '9'.repeat(30),
      '1.2.$$$$$$$$$$$',
      '9223372036854775808.1',
      '1],"query":{"match_all":{}},"x":[1.2',
    ]) {
      const error = await storeAt(store.url)
        .query(SELECTION, { order: 'asc', size: 1, from: 0, after }, call())
        .catch((caught: unknown) => caught);
      expect(error, after).to.be.instanceOf(StatusError).and.to.include({ code: 400 });
    }
    expect(store.asked.filter(({ path }) => path.includes('_search'))).to.deep.equal([]);
  });

  it('may begin behind more records than one search skips', async () => {
    const lines = Array.from({ length: 10_050 }, (_, n) => ({
      id: `line-${n}`,
      key: String(BigInt(KEY) + BigInt(n)),
      sequence: n,
    }));
    await using store = await scriptedStore((asked) => searched(lines, asked));
    for (const [from, size] of [
      [9_500, 1_000],
      [10_000, 20],
      [9_999, 1],
    ] as const) {
      const page = await storeAt(store.url).query(SELECTION, { order: 'asc', size, from }, call());
      expect(page.records.map(({ log }) => log)).to.deep.equal(
        lines.slice(from, from + size).map(({ id }) => id),
      );
    }
    for (const { body } of store.asked) {
      expect(Number(body['from'] ?? 0) + Number(body['size'] ?? 0)).to.be.at.most(10_000);
    }
  });
});

describe('a page that begins deeper than one search goes', () => {
  const lines = Array.from({ length: 10_050 }, (_, n) => ({
    id: `line-${n}`,
    key: String(BigInt(KEY) + BigInt(n)),
    sequence: n,
  }));

  it('tells what was not looked at on the way there', async () => {
    const shards = { total: 2, successful: 1, skipped: 0, failed: 1, failures: [] };
    await using store = await scriptedStore((asked) => {
      const text = searched(lines, asked);
      if (asked.body['_source'] !== false) return text;
      return text.replace(/"_shards":\{[^}]*\}/, `"_shards":${JSON.stringify(shards)}`);
    });
    const page = { order: 'asc', size: 1_000, from: 9_000 } as const;
    const { shortfalls } = await storeAt(store.url).query(SELECTION, page, call());
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['ShardFailed']);
  });
});

describe('an export', () => {
  const lines = Array.from({ length: 2_345 }, (_, n) => ({ id: `line-${n}`, key: KEY, sequence: n }));

  function exporting(asked: Asked): unknown {
    if (asked.path.includes('point_in_time') && asked.method === 'POST') return { pit_id: 'first' };
    if (asked.method === 'DELETE') return { pits: [] };
    return searched(lines, asked).replace('{', '{"pit_id":"next",');
  }

  async function read(batches: AsyncGenerator<readonly LogRecord[], unknown>, many: number): Promise<number> {
    let count = 0;
    for await (const batch of batches) {
      count += batch.length;
      if (count >= many) break;
    }
    return count;
  }

  it('closes what it was about to open when its reader went away', async () => {
    const opening = Promise.withResolvers<ServerResponse>();
    const closed = Promise.withResolvers<Asked>();
    await using store = await scriptedStore((asked, response) => {
      if (asked.method === 'DELETE') {
        closed.resolve(asked);
        return { pits: [] };
      }
      opening.resolve(response);
      return ANSWERED;
    });
    const leaving = new AbortController();
    const left = storeAt(store.url).export(SELECTION, 'asc', call(30_000, leaving.signal)).next();
    const response = await opening.promise;
    leaving.abort(new Error('gone'));
    expect(await left.catch((error: unknown) => error)).to.have.property('message', 'gone');
    response.end('{"pit_id":"late"}');
    expect((await closed.promise).body).to.deep.equal({ pit_id: ['late'] });
  });

  it('reads everything, and closes the point in time that it was given last', async () => {
    await using store = await scriptedStore(exporting);
    expect(await read(storeAt(store.url).export(SELECTION, 'asc', call()), Infinity)).to.equal(lines.length);
    const closing = store.asked.at(-1);
    expect(closing).to.include({ method: 'DELETE', path: '/_search/point_in_time' });
    expect(closing?.body).to.deep.equal({ pit_id: ['next'] });
    expect(closing?.headers['content-length']).to.equal(String(closing?.text.length));
  });

  it('holds a point in time for long only once it is read, since nobody closes one whose id got lost', async () => {
    await using store = await scriptedStore(exporting);
    await read(storeAt(store.url).export(SELECTION, 'asc', call()), Infinity);
    const opening = store.asked.find(
      ({ method, path }) => method === 'POST' && path.includes('point_in_time'),
    );
    expect(new URL(opening?.path ?? '', store.url).searchParams.get('keep_alive')).to.equal('30s');
    const pages = store.asked.filter(({ path }) => path === '/_search');
    expect(pages.map(({ body }) => body['pit'])).to.deep.equal(
      pages.map((_, n) => ({ id: n === 0 ? 'first' : 'next', keep_alive: '5m' })),
    );
  });

  it('closes it when nobody reads on', async () => {
    await using store = await scriptedStore(exporting);
    await read(storeAt(store.url).export(SELECTION, 'asc', call()), 1);
    expect(store.asked.at(-1)).to.include({ method: 'DELETE' });
  });

  it('closes it when the caller goes away', async () => {
    await using store = await scriptedStore(exporting);
    const leaving = new AbortController();
    const batches = storeAt(store.url).export(SELECTION, 'asc', call(30_000, leaving.signal));
    await batches.next();
    leaving.abort(new Error('gone'));
    const end = await read(batches, Infinity).catch((error: unknown) => error);
    expect(end).to.have.property('message', 'gone');
    // A search that was given up may reach the store later than this.
    expect(store.asked.filter(({ method }) => method === 'DELETE')).to.have.length(1);
  });

  it('fails, and closes it, when the store fails midway', async () => {
    let pages = 0;
    await using store = await scriptedStore((asked, response) => {
      if (asked.path === '/_search' && ++pages === 3) {
        response.writeHead(500).end('{}');
        return ANSWERED;
      }
      return exporting(asked);
    });
    const end = await read(storeAt(store.url).export(SELECTION, 'asc', call()), Infinity).catch(
      (error: unknown) => error,
    );
    expect(end).to.include({ code: 503 });
    expect(store.asked.at(-1)).to.include({ method: 'DELETE' });
  });

  it('gives each record once where pages end among records of one key, in long answers', async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => ({
      id: `line-${n}`,
      key: KEY,
      sequence: Math.floor(n / 150),
    }));
    await using store = await scriptedStore((asked) => {
      if (asked.path === '/_search') return searched(many, asked).replace('{', '{"pit_id":"next",');
      return exporting(asked);
    });
    const logs: string[] = [];
    for await (const batch of storeAt(store.url).export(SELECTION, 'asc', call())) {
      logs.push(...Array.from(batch, ({ log }) => log));
    }
    expect(logs).to.deep.equal(many.map(({ id }) => id));
  });

  it('asks for no more at a time than an index may allow, what it reads again included', async () => {
    await using store = await scriptedStore(exporting);
    expect(
      await read(storeAt(store.url, { pageSize: 100 }).export(SELECTION, 'asc', call()), Infinity),
    ).to.equal(lines.length);
    const sizes = store.asked.filter(({ path }) => path === '/_search').map(({ body }) => body['size']);
    expect(sizes.length).to.be.above(20);
    expect(Math.max(...sizes.map(Number))).to.equal(100);
  });

  it('ends when the store hangs in the middle, and closes it', async () => {
    let pages = 0;
    await using store = await scriptedStore((asked) => {
      if (asked.path === '/_search' && ++pages === 3) return ANSWERED;
      return exporting(asked);
    });
    const batches = storeAt(store.url, { pageMs: 200 }).export(SELECTION, 'asc', call(60_000));
    const end = await read(batches, Infinity).catch((error: unknown) => error);
    expect(end).to.include({ code: 504 });
    expect(store.asked.at(-1)).to.include({ method: 'DELETE' });
  });

  it('goes without the shards that are away where Elasticsearch lets it, and tells the log what refused it', async () => {
    const refusing = async (isOld: boolean): Promise<readonly [failure: unknown, opened: string[]]> => {
      await using store = await scriptedStore((asked, response) => {
        const isPartial = asked.path.includes('allow_partial_search_results=true');
        const unknown = asked.path.includes('point_in_time') || (isOld && isPartial);
        if (asked.method === 'DELETE') return { succeeded: true };
        if (asked.body['pit']) return answer([]);
        if (!unknown && isPartial)
          return { id: 'first', _shards: { total: 2, successful: 1, skipped: 0, failed: 1 } };
        response.writeHead(unknown ? 400 : 503).end(
          JSON.stringify({
            error: unknown
              ? { type: 'illegal_argument_exception', reason: 'contains unrecognized parameter: [some]' }
              : { type: 'search_phase_execution_exception', reason: 'rejected due to missing shards' },
          }),
        );
        return ANSWERED;
      });
      const exported = storeAt(store.url).export(SELECTION, 'asc', call());
      const end = await exported.next().catch((error: unknown) => error);
      const opened = store.asked.filter(
        ({ method, path }) => method === 'POST' && path.includes('keep_alive'),
      );
      return [end, opened.map(({ path }) => path)];
    };
    const [covered, opened] = await refusing(false);
    expect(covered).to.have.property('value').that.has.property('shortfalls').with.lengthOf(1);
    expect(opened).to.have.length(2);
    const [failure] = await refusing(true);
    expect(failure).to.include({ code: 503 });
    expect(failure).to.have.property('cause').that.has.property('message').that.includes('missing shards');
  });

  it('speaks to Elasticsearch as that wants it', async () => {
    await using store = await scriptedStore((asked, response) => {
      if (asked.path.includes('point_in_time')) {
        const headers = { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' };
        response
          .writeHead(400, headers)
          .end(JSON.stringify({ error: `no handler found for uri [${asked.path}] and method [POST]` }));
        return ANSWERED;
      }
      if (asked.path.includes('_pit')) return asked.method === 'POST' ? { id: 'first' } : { succeeded: true };
      return exporting(asked);
    });
    expect(await read(storeAt(store.url).export(SELECTION, 'asc', call()), Infinity)).to.equal(lines.length);
    expect(store.asked.at(-1)).to.include({ method: 'DELETE', path: '/_pit' });
    expect(store.asked.at(-1)?.body).to.deep.equal({ id: 'next' });
  });
});
