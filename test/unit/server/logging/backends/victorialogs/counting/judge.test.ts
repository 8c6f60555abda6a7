import { expect } from 'chai';
import pino from 'pino';
import { StatusError } from '../../../../../../../apis/meta/v1/errors.ts';
import { VictoriaLogsLogStore } from '../../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { Selection } from '../../../../../../../server/logging/log-store.ts';
import { rows, ScriptedVictoriaLogs } from '../../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../../support/logging/victorialogs.ts';

const NOON = '2026-01-01T12:00:00Z';
const SELECTION: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' },
  text: { mode: 'phrase', texts: ['timeout'], caseSensitive: false },
};
const PAGE = { order: 'asc', size: 0, from: 0 } as const;
/** The second one is one word with the letters before it. */
const [MEANT, OTHER] = [
  { _time: NOON, _msg: 'é timeout' },
  { _time: NOON, _msg: 'étimeout' },
].map((line) => JSON.stringify(line));

/** What the store answers to a count, and to a question for the lines that were left open. */
async function counting(counted: Readonly<Record<string, string>>, lines = rows()) {
  const server = await ScriptedVictoriaLogs.start((response, asked) =>
    (asked.form.get('query')?.includes(' stats ') === true ? rows(counted) : lines)(response, asked),
  );
  const log = pino({ level: 'silent' });
  const store = new VictoriaLogsLogStore({ url: server.url, fields: FIELDS, log });
  const call = { signal: new AbortController().signal, timeoutMs: 30_000 };
  return {
    asked: server.asked,
    total: async () => (await store.query(SELECTION, PAGE, call)).total.count,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('lines that the store cannot tell', () => {
  const counted = { n: '12', first: NOON, last: NOON, unsure: '2' };

  it('come along with the count, and are judged here', async () => {
    await using store = await counting({ ...counted, open: JSON.stringify([MEANT, OTHER]) });
    expect(await store.total()).to.equal(11);
    expect(store.asked).to.have.length(1);
  });

  it('are asked for where not all came along', async () => {
    const all = rows({ _time: NOON, _msg: 'étimeout' }, { _time: NOON, _msg: 'timeouté' });
    await using store = await counting({ ...counted, open: JSON.stringify([MEANT]) }, all);
    expect(await store.total()).to.equal(10);
    expect(store.asked).to.have.length(2);
  });

  it('are not taken for what they are not', async () => {
    for (const open of ['', '{}', '["{"]', '[17]', '[{}]']) {
      await using store = await counting({ ...counted, open });
      const error: unknown = await store.total().catch((failure: unknown) => failure);
      expect(error, open).to.be.instanceOf(StatusError).with.property('code', 503);
    }
  });
});
