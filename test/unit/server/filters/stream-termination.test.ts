// Tests of the filter that ends streams after the end of a session or credential.
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable, newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import type { SessionCheck } from '../../../../server/authentication/session-check.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { Exchange, type Filter } from '../../../../server/filters/exchange.ts';
import { streamTermination } from '../../../../server/filters/stream-termination.ts';
import { until } from '../../../support/until.ts';
import { alice } from './chain-fixture.ts';

describe('streamTermination', () => {
  const open: Exchange[] = [];
  afterEach(() => {
    for (const exchange of open.splice(0)) exchange.end();
  });

  function enter(user: UserInfo = alice, longRunning = true): Exchange {
    const request = new IncomingMessage(new Socket());
    const arrival = { request, response: new ServerResponse(request), secure: true, upgrade: undefined };
    const exchange = new Exchange(arrival, { logger: pino({ level: 'silent' }), sourceOf: () => '' }, 0, 0);
    open.push(exchange);
    return Object.assign(exchange, { user, longRunning, authenticated: true });
  }

  function ofSessions(checkSession: SessionCheck): Filter {
    return streamTermination({ checkSession, checkCredential: () => undefined }, 1);
  }

  /** Wraps a session check, and counts its calls. */
  function asking(answer: SessionCheck): { readonly check: SessionCheck; times: number } {
    const counter = {
      times: 0,
      check: (...args: Parameters<SessionCheck>): ReturnType<SessionCheck> => {
        counter.times++;
        return answer(...args);
      },
    };
    return counter;
  }

  it('ends a stream when its session ends, not before', async () => {
    let refusal: Error | undefined;
    const counter = asking(() => {
      if (refusal) throw refusal;
    });
    const exchange = enter();
    await ofSessions(counter.check)(exchange);
    await until(() => counter.times >= 3);
    expect(exchange.signal.aborted).to.equal(false);
    refusal = newUnauthorized(new Error('the session was terminated'));
    await once(exchange.signal, 'abort');
  });

  it('ends a stream after an asynchronous check, but no streams of other users', async () => {
    const filter = ofSessions(({ name }) =>
      name === 'bob' ? Promise.reject(newUnauthorized()) : Promise.resolve(),
    );
    const [hers, his] = [enter(), enter({ ...alice, name: 'bob' })];
    await filter(hers);
    await filter(his);
    await once(his.signal, 'abort');
    expect(hers.signal.aborted).to.equal(false);
  });

  it('checks a stream that starts after all others have ended', async () => {
    const filter = ofSessions(() => {
      throw newUnauthorized();
    });
    for (const exchange of [enter(), enter()]) {
      await filter(exchange);
      await once(exchange.signal, 'abort');
      exchange.end();
    }
  });

  it('does not end a stream while the state of its session is unknown', async () => {
    const counter = asking(() => {
      throw newServiceUnavailable('sessions cannot be seen');
    });
    const exchange = enter();
    await ofSessions(counter.check)(exchange);
    await until(() => counter.times >= 3);
    expect(exchange.signal.aborted).to.equal(false);
  });

  it('does not check ended streams and requests that are not long-running', async () => {
    const named: string[] = [];
    const filter = ofSessions(({ name }) => void named.push(name));
    const [ended, short, other] = [enter(), enter(alice, false), enter({ ...alice, name: 'bob' })];
    for (const exchange of [ended, short]) await filter(exchange);
    ended.end();
    const counter = asking(() => undefined);
    await ofSessions(counter.check)(other);
    await until(() => counter.times >= 3);
    expect(named).to.deep.equal([]);
  });

  it('ends a stream when its credential is rejected, also of a caller without a session', async () => {
    const checkCredential = (): Promise<undefined> => Promise.reject(newUnauthorized());
    const exchange = enter();
    await streamTermination({ checkSession: undefined, checkCredential }, 1)(exchange);
    await once(exchange.signal, 'abort');
  });

  it('checks credentials less often than sessions, and not at the gateway', async () => {
    const counter = asking(() => undefined);
    const checked: { readonly exchange: object; readonly sessionChecks: number }[] = [];
    const checkCredential = (exchange: object): undefined =>
      void checked.push({ exchange, sessionChecks: counter.times });
    const filter = streamTermination({ checkSession: counter.check, checkCredential }, 1);
    const [forwarded, own] = [enter(), enter()];
    forwarded.proxied = true;
    await filter(forwarded);
    await filter(own);
    await until(() => checked.length >= 2);
    expect(checked.slice(0, 2)).to.deep.equal([
      { exchange: own, sessionChecks: 12 },
      { exchange: own, sessionChecks: 24 },
    ]);
  });
});
