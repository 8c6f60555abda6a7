// Tests of live lists: reconnects, resumes, errors and their end, against a real HTTP server.
import { mock } from 'node:test';
import { expect } from 'chai';
import {
  Client,
  type ClientOptions,
  type Connection,
  StatusError,
  type StreamOptions,
} from '../../../client/index.ts';
import { FakeTimers } from '../../support/fake-timers.ts';
import { rejection } from '../../support/rejection.ts';
import { json, pieces, type Script, scriptedServer } from '../../support/scripted-server.ts';
import { until } from '../../support/until.ts';

const page = (total: number, id = String(total)): string =>
  `event: page\nid: ${id}\ndata: {"items":[],"totalItems":${total},"metadata":{"resourceVersion":"1"}}\n\n`;

describe('a live list', () => {
  const server = scriptedServer();
  let resumedAfter: (string | undefined)[];
  /** Records the position of a request. */
  const resumed =
    (script: Script): Script =>
    (request, response) => {
      resumedAfter.push(request.headers['last-event-id'] as string | undefined);
      script(request, response);
    };

  beforeEach(() => {
    resumedAfter = [];
  });

  const live = (options: StreamOptions = {}, token: ClientOptions['token'] = 'T') =>
    new Client({ server: server.url, token }).lists.live('pods', { limit: 1 }, options);

  /** The first totals of a list. */
  async function totals(count: number, list = live()): Promise<number[]> {
    const found: number[] = [];
    for await (const { totalItems } of list) {
      found.push(totalItems);
      if (found.length === count) break;
    }
    return found;
  }

  it('resumes after the last page when the server restarts, and closes its connection at the end', async () => {
    const connections: Connection[] = [];
    server.respond(
      resumed(pieces([page(1), ':\n\n', page(2).slice(0, 20)], { ends: true })),
      resumed(pieces([page(2)])),
    );
    const list = live({ onConnection: (connection) => connections.push(connection) });
    expect(await totals(2, list)).to.deep.equal([1, 2]);
    expect(resumedAfter).to.deep.equal([undefined, '1']);
    expect(connections).to.deep.equal([{ state: 'open' }, { state: 'closed' }, { state: 'open' }]);
    await until(() => server.open.size === 0);
  });

  it('waits as long as the server says, and reports the error', async () => {
    const connections: Connection[] = [];
    server.respond(json({}, 429, { 'Retry-After': '1' }), pieces([page(1)]));
    const before = Date.now();
    const list = live({ onConnection: (connection) => connections.push(connection) });
    expect(await totals(1, list)).to.deep.equal([1]);
    const [waiting, open] = connections;
    expect(open).to.deep.equal({ state: 'open' });
    if (waiting?.state !== 'waiting') throw new Error('the list did not wait');
    expect(waiting.error).to.include({ code: 429, retryAfter: 1 });
    expect(waiting.retryAt).to.be.at.least(before + 1000);
  });

  it('waits at most an hour, and also after the page of a proxy', async () => {
    const abort = new AbortController();
    const found: string[] = [];
    const onConnection = (connection: Connection): void => {
      if (connection.state !== 'waiting') return;
      expect(connection.retryAt).to.be.at.most(Date.now() + 3_600_000);
      found.push(connection.error.message);
      if (found.length === 2) abort.abort();
    };
    const proxyPage: Script = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>');
    };
    server.respond(proxyPage, json({}, 503, { 'Retry-After': '99999999' }));
    expect(await totals(1, live({ onConnection, signal: abort.signal }))).to.deep.equal([]);
    expect(found[0]).to.include('the response is not an event stream');
    expect(found[1]).to.include('returned 503');
  });

  it('sends no further request without a pause, whatever the server says about it', async () => {
    const hostile = { kind: 'Status', details: { retryAfterSeconds: 'soon', causes: 'none' } };
    const scripts = [
      json({ kind: 'Status', details: { retryAfterSeconds: 99_999_999 } }, 503),
      json(hostile, 503),
    ];
    for (const script of scripts) {
      server.respond(script);
      const abort = new AbortController();
      const pauses: number[] = [];
      const onConnection = (connection: Connection): void => {
        if (connection.state !== 'waiting') return;
        pauses.push(connection.retryAt - Date.now());
        abort.abort();
      };
      await totals(1, live({ signal: abort.signal, onConnection }));
      expect(pauses).to.have.length(1);
      expect(pauses[0]).to.be.within(400, 2 ** 31 - 1);
    }
  });

  it('reports no problem when the server ends a quiet stream after a while', async () => {
    const states: string[] = [];
    let now = Date.now();
    const clock = mock.method(Date, 'now', () => now);
    const onConnection = ({ state }: Connection): void => {
      states.push(state);
      now += 20_000;
    };
    const quiet = pieces([':\n\n'], { ends: true });
    server.respond(quiet, quiet, quiet, pieces([page(1)]));
    try {
      expect(await totals(1, live({ onConnection }))).to.deep.equal([1]);
    } finally {
      clock.mock.restore();
    }
    expect(states).to.deep.equal(['open', 'closed', 'open', 'closed', 'open', 'closed', 'open']);
  });

  it('resumes when its connection is lost', async () => {
    const lost: Script = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(page(1), () => response.destroy());
    };
    server.respond(resumed(lost), resumed(pieces([page(2)])));
    expect(await totals(2)).to.deep.equal([1, 2]);
    expect(resumedAfter).to.deep.equal([undefined, '1']);
  });

  it('resumes when the server sends nothing, not even a heartbeat', async () => {
    const connections: Connection[] = [];
    const list = live({ onConnection: (connection) => connections.push(connection) });
    server.respond(resumed(pieces([page(1)])), resumed(pieces([page(2)])));
    expect((await list.next()).value).to.include({ totalItems: 1 });
    using timers = new FakeTimers();
    const next = list.next();
    await timers.tick(60_000);
    await until(() => connections.at(-1)?.state === 'waiting');
    await timers.tick(1000);
    expect((await next).value).to.include({ totalItems: 2 });
    expect(resumedAfter).to.deep.equal([undefined, '1']);
    await list.return();
  });

  it('resumes with another token when the server rejects the first one', async () => {
    const used: (string | undefined)[] = [];
    const withToken =
      (script: Script): Script =>
      (request, response) => {
        used.push(request.headers.authorization);
        resumed(script)(request, response);
      };
    let token = 'old';
    const source = {
      token: async ({ rejected }: { rejected?: string } = {}) => {
        if (rejected === token) token = 'new';
        return token;
      },
    };
    server.respond(
      withToken(pieces([page(1)], { ends: true })),
      withToken(json({}, 401)),
      withToken(pieces([page(2)])),
    );
    expect(await totals(2, live({}, source))).to.deep.equal([1, 2]);
    expect(used).to.deep.equal(['Bearer old', 'Bearer old', 'Bearer new']);
    expect(resumedAfter).to.deep.equal([undefined, '1', '1']);
  });

  it('throws an error that a retry cannot help, as a response or as an event', async () => {
    server.respond(json({ kind: 'Status', message: 'pods is forbidden', code: 403 }, 403));
    const refused = await rejection(totals(1));
    expect(refused).to.be.instanceOf(StatusError).with.property('message', 'pods is forbidden');
    server.respond(pieces([page(1), 'event: failure\ndata: {"code":404,"message":"removed"}\n\n']));
    expect(await rejection(totals(2))).to.include({ code: 404, message: 'removed' });
    expect(server.asked).to.have.length(2);
    await until(() => server.open.size === 0);
  });

  it('throws the error of the token source', async () => {
    const signInRequired = new Error('sign in again');
    const token = (): Promise<string> => Promise.reject(signInRequired);
    expect(await rejection(totals(1, live({}, { token })))).to.equal(signInRequired);
  });

  it('ends without an error when the caller aborts at any moment', async () => {
    const moments: [string, Script[], () => boolean][] = [
      ['before the headers', [() => undefined], () => server.open.size === 1],
      ['before a page', [pieces([':\n\n'])], () => server.open.size === 1],
      ['within a page', [pieces([page(1), page(2).slice(0, 30)])], () => server.open.size === 1],
      ['while it waits', [json({}, 503, { 'Retry-After': '100' })], () => isWaiting],
    ];
    let isWaiting = false;
    for (const [moment, script, reached] of moments) {
      server.respond(...script);
      const abort = new AbortController();
      const list = live({
        signal: abort.signal,
        onConnection: ({ state }) => (isWaiting = state === 'waiting'),
      });
      const ended = totals(9, list);
      await until(reached);
      abort.abort();
      expect(await ended, moment).to.have.length.below(2);
      await until(() => server.open.size === 0);
    }
    expect(await totals(1, live({ signal: AbortSignal.abort() }))).to.deep.equal([]);
    expect(server.asked).to.have.length(moments.length);
  });
});
