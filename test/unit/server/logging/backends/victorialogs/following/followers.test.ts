import { expect } from 'chai';
import pino from 'pino';
import { Followers } from '../../../../../../../server/logging/backends/victorialogs/following/followers.ts';
import { Connection } from '../../../../../../../server/logging/backends/victorialogs/requests/connection.ts';
import { Queries } from '../../../../../../../server/logging/backends/victorialogs/requests/queries.ts';
import type { LogRecord } from '../../../../../../../server/logging/log-store.ts';
import { rows, ScriptedVictoriaLogs } from '../../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../../support/logging/victorialogs.ts';

const START = '2026-01-01T00:00:00.000000000Z';
const NOW = Date.parse(START) + 1_000;

describe('all who follow VictoriaLogs', () => {
  it('remember so many lines together, and no more; who leaves makes room', async () => {
    let count = 0;
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      const _time = START.replace('.000000000', '');
      if (asked.form.get('query')?.includes('stats') === true)
        rows({ _time, n: String(count) })(response, asked);
      else
        rows(...Array.from({ length: count }, (_, number) => ({ _time, _msg: `${number}` })))(
          response,
          asked,
        );
    });
    const log = pino({ level: 'silent' });
    const queries = new Queries(new Connection({ url: server.url, now: () => NOW }));
    const followers = new Followers({
      queries,
      log,
      now: () => NOW,
      wallClock: () => NOW,
      maxRemembered: 10,
    });
    const question = () => ({ lines: '*', extraFilters: [] });
    const follow = () => {
      const leaving = new AbortController();
      const wanted = { question, rough: question, fields: FIELDS, isMeant: () => true, start: START };
      const lines = followers.follow(wanted, leaving);
      return {
        next: async (): Promise<number> => {
          const { value } = await lines.next();
          return (value as readonly LogRecord[]).length;
        },
        leave: async (): Promise<unknown> => {
          leaving.abort();
          return lines.return();
        },
      };
    };
    count = 6;
    const [first, second] = [follow(), follow()];
    expect(await first.next()).to.equal(6);
    const failure = await second.next().catch((error: unknown) => error);
    expect(failure).to.include({ code: 429 });
    count = 10;
    // What the second one had remembered is free again.
    expect(await first.next()).to.equal(4);
    await first.leave();
    const third = follow();
    expect(await third.next()).to.equal(10);
    await third.leave();
  });

  it('tell the log once that the store does not answer, however many they are and however often they ask', async () => {
    const askedOften = Promise.withResolvers<void>();
    await using server = await ScriptedVictoriaLogs.start((response, question) => {
      // The first question of each is answered: who begins is told at once that the store is down.
      if (server.asked.length <= 3) rows()(response, question);
      else response.writeHead(503).end();
      if (server.asked.length === 12) askedOften.resolve();
    });
    const told: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => told.push(line) });
    const queries = new Queries(new Connection({ url: server.url, now: () => NOW }));
    const followers = new Followers({ queries, log, now: () => NOW, wallClock: () => NOW });
    const leaving = new AbortController();
    const question = () => ({ lines: '*', extraFilters: [] });
    const wanted = { question, rough: question, fields: FIELDS, isMeant: () => true, start: START };
    const reading = Array.from({ length: 3 }, () => followers.follow(wanted, leaving).next());
    await askedOften.promise;
    leaving.abort();
    await Promise.all(reading);
    expect(told).to.have.length(1);
  });
});
