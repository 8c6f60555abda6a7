import { expect } from 'chai';
import { Connection } from '../../../../../../../server/logging/backends/opensearch/connection/connection.ts';
import { Follower } from '../../../../../../../server/logging/backends/opensearch/following/follower.ts';
import { Pace } from '../../../../../../../server/logging/backends/opensearch/following/pace.ts';
import { Searches } from '../../../../../../../server/logging/backends/opensearch/searches/searches.ts';
import { FieldProbe } from '../../../../../../../server/logging/backends/opensearch/selection/field-probe.ts';
import { Predecessors } from '../../../../../../../server/logging/backends/opensearch/selection/predecessors.ts';
import { SelectionQueries } from '../../../../../../../server/logging/backends/opensearch/selection/selection-queries.ts';
import { FIELDS } from '../../../../../../support/logging/opensearch-store.ts';
import { type Asked, answer, type Line, SELECTION, scriptedStore } from '../scripted-store.ts';

const BEGIN = Date.parse(SELECTION.range.start);

/** A line so many ms behind the beginning. */
function lineAt(ms: number, id = `line ${ms}`): Line {
  return { id, key: `${BEGIN + ms}000000`, sequence: ms };
}

/** Answers as a store that holds these lines. */
function holding(lines: readonly Line[], { body, text }: Asked): string {
  const [, gte = '', lt = ''] = /"gte":"([^"]+)","lt":"([^"]+)"/.exec(text) ?? [];
  const after = BigInt(/"search_after":\[(\d+)/.exec(text)?.[1] ?? 0);
  const time = (line: Line) => Number(line.key.slice(0, -6));
  const within = lines
    .filter((line) => time(line) >= Date.parse(gte) && time(line) < Date.parse(lt))
    .toSorted((a, b) => time(a) - time(b));
  const page = within.filter(({ key }) => BigInt(key) >= after).slice(0, Number(body['size']));
  return answer(page).replace(/"total":\{"value":\d+/, `"total":{"value":${within.length}`);
}

function followerOf(url: string, wallClock: () => number): Follower {
  const now = () => 0;
  const searches = new Searches({ connection: new Connection({ urls: [url], now }), now });
  const queries = new SelectionQueries({
    searches,
    naming: { prefix: 'logs', daily: true },
    probe: new FieldProbe(searches, FIELDS, now),
    predecessors: new Predecessors(searches, now, wallClock),
  });
  const options = { searches, queries, pace: new Pace(now), wallClock };
  return new Follower(options, { lateMs: 1_000, pageSize: 5, remembered: 20 }, SELECTION);
}

async function newsOf(
  follower: Follower,
  most: { remembered: number } = { remembered: 0 },
): Promise<string[]> {
  const logs: string[] = [];
  for await (const batch of follower.news(new AbortController().signal)) {
    logs.push(...batch.map(({ log }) => log));
    most.remembered = Math.max(most.remembered, follower.remembered);
  }
  return logs;
}

describe('a follower of OpenSearch', () => {
  it('reads what was there before once, however much, and remembers only the last of it', async () => {
    const held = Array.from({ length: 300 }, (_, n) => lineAt(n * 10));
    await using store = await scriptedStore((asked) => holding(held, asked));
    const follower = followerOf(store.url, () => BEGIN + 10_000);
    const most = { remembered: 0 };
    expect(await newsOf(follower, most)).to.deep.equal(held.map(({ id }) => id));
    expect(most.remembered).to.be.within(20, 50);
    expect(await newsOf(follower)).to.deep.equal([]);
    held.push(lineAt(2_985, 'late'), lineAt(3_000));
    expect(await newsOf(follower)).to.deep.equal(['line 3000', 'late']);
  });

  it('gives what claims to be of the future once, even when it cannot remember all of the past', async () => {
    const held = [...Array.from({ length: 15 }, (_, n) => lineAt(n * 10)), lineAt(60_000, 'ahead')];
    await using store = await scriptedStore((asked) => holding(held, asked));
    let now = BEGIN + 1_000;
    const follower = followerOf(store.url, () => now);
    const logs = await newsOf(follower);
    for (let ms = 1_000; ms < 2_000; ms += 100) {
      held.push(lineAt(ms), lineAt(ms + 1), lineAt(ms + 2));
      now = BEGIN + ms + 100;
      logs.push(...(await newsOf(follower)));
    }
    expect(logs.toSorted()).to.deep.equal(held.map(({ id }) => id).toSorted());
  });

  it('gives the rest, and nothing again, when a question midway is not answered', async () => {
    const held = Array.from({ length: 12 }, (_, n) => lineAt(n * 10));
    let searches = 0;
    await using store = await scriptedStore((asked) => {
      searches++;
      const failed = { _shards: { total: 2, successful: 1, skipped: 0, failed: 1 } };
      return searches === 2 ? answer([], failed) : holding(held, asked);
    });
    const follower = followerOf(store.url, () => BEGIN + 1_000);
    const logs: string[] = [];
    const failure = await (async () => {
      for await (const batch of follower.news(new AbortController().signal)) {
        logs.push(...batch.map(({ log }) => log));
      }
    })().catch((error: unknown) => error);
    expect(failure).to.include({ code: 503 });
    expect(logs).to.have.length(5);
    logs.push(...(await newsOf(follower)));
    expect(logs).to.deep.equal(held.map(({ id }) => id));
  });
});
