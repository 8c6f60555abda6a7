// Tests of the filter that ends streams after the end of a session.
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable, newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import type { SessionCheck } from '../../../../server/authentication/session-check.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { Exchange } from '../../../../server/filters/exchange.ts';
import { sessionTermination } from '../../../../server/filters/session-termination.ts';
import { until } from '../../../support/until.ts';
import { alice } from './chain-fixture.ts';

describe('sessionTermination', () => {
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
    await sessionTermination(counter.check, 1)(exchange);
    await until(() => counter.times >= 3);
    expect(exchange.signal.aborted).to.equal(false);
    refusal = newUnauthorized(new Error('the session was terminated'));
    await once(exchange.signal, 'abort');
  });

  it('ends a stream after an asynchronous check, but no streams of other users', async () => {
    const filter = sessionTermination(
      ({ name }) => (name === 'bob' ? Promise.reject(newUnauthorized()) : Promise.resolve()),
      1,
    );
    const [hers, his] = [enter(), enter({ ...alice, name: 'bob' })];
    await filter(hers);
    await filter(his);
    await once(his.signal, 'abort');
    expect(hers.signal.aborted).to.equal(false);
  });

  it('checks a stream that starts after all others have ended', async () => {
    const filter = sessionTermination(() => {
      throw newUnauthorized();
    }, 1);
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
    await sessionTermination(counter.check, 1)(exchange);
    await until(() => counter.times >= 3);
    expect(exchange.signal.aborted).to.equal(false);
  });

  it('does not check ended streams and requests that are not long-running', async () => {
    const named: string[] = [];
    const filter = sessionTermination(({ name }) => void named.push(name), 1);
    const [ended, short, other] = [enter(), enter(alice, false), enter({ ...alice, name: 'bob' })];
    for (const exchange of [ended, short]) await filter(exchange);
    ended.end();
    const counter = asking(() => undefined);
    await sessionTermination(counter.check, 1)(other);
    await until(() => counter.times >= 3);
    expect(named).to.deep.equal([]);
  });
});
