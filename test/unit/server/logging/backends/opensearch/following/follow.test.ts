import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { restAfter } from '../../../../../../../server/logging/backends/opensearch/following/pace.ts';
import type { LogRecord } from '../../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../../support/logging/opensearch-store.ts';
import { until } from '../../../../../../support/until.ts';
import {
  ANSWERED,
  type Asked,
  answer,
  call,
  type ScriptedStore,
  SELECTION,
  scriptedStore,
} from '../scripted-store.ts';

const FIRST = { id: 'first', key: '1768435200000000001', sequence: 1 };
const SECOND = { id: 'second', key: '1768435200000000002', sequence: 2 };

/** The small question whether there is anything new. */
function isPoll({ path, body }: Asked): boolean {
  return path.includes('_search') && body['size'] === 0;
}

function isQuestion({ path, body }: Asked): boolean {
  return path.includes('_search') && Number(body['size']) > 0;
}

function followAll(
  store: ScriptedStore,
  many: number,
  followTuning: object,
  selection = SELECTION,
): { leave: () => Promise<unknown>; logs: string[] } {
  const leaving = new AbortController();
  const backend = storeAt(store.url, { followTuning });
  const logs: string[] = [];
  const read = async (lines: AsyncIterable<readonly LogRecord[]>) => {
    for await (const batch of lines) logs.push(...batch.map(({ log }) => log));
  };
  const following = Array.from({ length: many }, () =>
    read(backend.follow(selection, call(60_000, leaving.signal))),
  );
  const leave = () => {
    leaving.abort(new Error('gone'));
    return Promise.allSettled(following);
  };
  return { leave, logs };
}

describe('following OpenSearch', () => {
  it('asks for lines when the indices hold more than before, and only then', async () => {
    const held = [FIRST];
    await using store = await scriptedStore(() => answer(held));
    const { leave, logs } = followAll(store, 1, { pollMs: 1, surelyMs: 60_000 });
    const polls = () => store.asked.filter(isPoll).length;
    const questions = () => store.asked.filter(isQuestion).length;
    const afterPolls = (many: number) => {
      const seen = polls();
      return until(() => polls() >= seen + many);
    };
    await until(() => logs.length === 1);
    await afterPolls(5);
    const before = questions();
    await afterPolls(10);
    expect(questions()).to.equal(before);
    held.push(SECOND);
    await until(() => logs.length === 2);
    expect(logs).to.deep.equal(['first', 'second']);
    await leave();
  });

  it('asks for lines now and then even when nothing seems to be new', async () => {
    const held = [FIRST];
    await using store = await scriptedStore((asked) => (isPoll(asked) ? answer([FIRST]) : answer(held)));
    const { leave, logs } = followAll(store, 1, { pollMs: 1, surelyMs: 30 });
    await until(() => logs.length === 1);
    held.push(SECOND);
    await until(() => logs.length === 2);
    await leave();
  });

  it('gives a line of the very moment from which it follows once, though numbers do not keep its nanoseconds', async () => {
    // As a double it is 1795200000001999872.
    const start = '2026-11-20T18:40:00.002000000Z';
    const line = { id: 'line', key: '1795200000002000000', sequence: 1 };
    const late = { id: 'late', key: '1795200000002000001', sequence: 0 };
    const held = [line];
    await using store = await scriptedStore(() => answer(held));
    const selection = { ...SELECTION, range: { start, end: start } };
    const { leave, logs } = followAll(store, 1, { pollMs: 1, surelyMs: 1 }, selection);
    const questions = () => store.asked.filter(isQuestion).length;
    await until(() => questions() >= 4);
    held.push(late);
    await until(() => logs.includes('late') && questions() >= 8);
    expect(logs).to.deep.equal(['line', 'late']);
    await leave();
  });

  it('asks whether anything is new once for all who follow the same, and for lines a few at a time', async () => {
    const held = [FIRST];
    const polls: ServerResponse[] = [];
    const questions: ServerResponse[] = [];
    let isHolding = false;
    let most = 0;
    await using store = await scriptedStore((asked, response) => {
      if (!isHolding) return answer(held);
      (isPoll(asked) ? polls : questions).push(response);
      most = Math.max(most, questions.length);
      return ANSWERED;
    });
    const { leave, logs } = followAll(store, 20, { pollMs: 1, surelyMs: 60_000 });
    await until(() => logs.length === 20);
    // All of them wait for the next change.
    const asked = () => store.asked.filter(isQuestion).length;
    await until(() => asked() >= 20);
    let settled = -1;
    while (settled !== asked()) {
      settled = asked();
      const seen = store.asked.length;
      await until(() => store.asked.length >= seen + 5);
    }
    isHolding = true;
    await until(() => polls.length === 1);
    held.push(SECOND);
    polls.shift()?.end(answer(held));
    const answered = new Set<ServerResponse>();
    while (logs.length < 40) {
      await until(() => questions.length > 0 || logs.length === 40);
      expect(polls.length).to.be.at.most(1);
      const response = questions.shift();
      if (response) answered.add(response.end(answer(held)));
    }
    expect(most).to.be.within(1, 5);
    expect(logs.filter((log) => log === 'second')).to.have.length(20);
    await leave();
  });

  it('stops asking when nobody follows any more', async () => {
    const closed = Promise.withResolvers<void>();
    let isHolding = false;
    await using store = await scriptedStore((_, response) => {
      if (!isHolding) return answer([FIRST]);
      response.once('close', closed.resolve);
      return ANSWERED;
    });
    const { leave, logs } = followAll(store, 2, { pollMs: 1 });
    await until(() => logs.length === 2);
    await until(() => store.asked.some(isPoll));
    isHolding = true;
    const seen = store.asked.length;
    await until(() => store.asked.length > seen);
    await leave();
    await closed.promise;
  });

  it('goes on behind a failure however the clock is set meanwhile', async () => {
    let clock = Date.parse(SELECTION.range.end);
    let failures = 0;
    await using store = await scriptedStore((asked, response) => {
      if (failures === 0 && isQuestion(asked)) {
        failures = 1;
        return answer([FIRST]);
      }
      if (isPoll(asked) || failures > 3) return answer([FIRST, SECOND]);
      failures++;
      clock += 3_600_000;
      response.writeHead(500).end('{}');
      return ANSWERED;
    });
    const followTuning = { pollMs: 1, retryMs: 1 };
    const leaving = new AbortController();
    const backend = storeAt(store.url, { followTuning, wallClock: () => clock });
    const logs: string[] = [];
    for await (const batch of backend.follow(SELECTION, { signal: leaving.signal })) {
      logs.push(...Array.from(batch, ({ log }) => log));
      if (logs.includes('second')) leaving.abort();
    }
    expect(logs).to.deep.equal(['first', 'second']);
  });

  it('puts its questions to the same copies of shards', async () => {
    await using store = await scriptedStore(() => answer([FIRST]));
    const { leave } = followAll(store, 1, { pollMs: 1 });
    await until(() => store.asked.some(isPoll));
    await leave();
    const preferences = store.asked
      .filter(({ path }) => path.includes('_search'))
      .map(({ path }) => new URL(path, store.url).searchParams.get('preference'));
    expect(preferences[0]).to.match(/^followers-/);
    expect(new Set(preferences).size).to.equal(1);
  });

  it('rests four times as long as the store took, and not for ever', () => {
    expect(restAfter(25)).to.equal(100);
    expect(restAfter(1e9)).to.equal(5_000);
  });
});
