import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable, newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { Exchange } from '../../../../server/filters/exchange.ts';
import { type SessionCheck, signOut } from '../../../../server/filters/sign-out.ts';
import { until } from '../../../support/until.ts';
import { alice } from './chain-fixture.ts';

describe('a stream', () => {
  const open: Exchange[] = [];
  afterEach(() => {
    for (const exchange of open.splice(0)) exchange.end();
  });

  function enter(user: UserInfo = alice, longRunning = true): Exchange {
    const request = new IncomingMessage(new Socket());
    const arrival = { request, response: new ServerResponse(request), secure: true, upgrade: undefined };
    const exchange = new Exchange(arrival, pino({ level: 'silent' }), 0, 0);
    open.push(exchange);
    return Object.assign(exchange, { user, longRunning, authenticated: true });
  }

  /** Tells how often it was asked about the caller. */
  function asking(answer: SessionCheck): { readonly check: SessionCheck; times: number } {
    const asked = {
      times: 0,
      check: (...args: Parameters<SessionCheck>): ReturnType<SessionCheck> => {
        asked.times++;
        return answer(...args);
      },
    };
    return asked;
  }

  it('goes on while its caller is signed in, and ends when he is not any more', async () => {
    let refusal: Error | undefined;
    const asked = asking(() => {
      if (refusal) throw refusal;
    });
    const exchange = enter();
    await signOut(asked.check, 1)(exchange);
    await until(() => asked.times >= 3);
    expect(exchange.signal.aborted).to.equal(false);
    refusal = newUnauthorized(new Error('the session is over'));
    await once(exchange.signal, 'abort');
  });

  it('ends also when the cluster had to be asked, and leaves those of others', async () => {
    const filter = signOut(
      ({ name }) => (name === 'bob' ? Promise.reject(newUnauthorized()) : Promise.resolve()),
      1,
    );
    const [hers, his] = [enter(), enter({ ...alice, name: 'bob' })];
    await filter(hers);
    await filter(his);
    await once(his.signal, 'abort');
    expect(hers.signal.aborted).to.equal(false);
  });

  it('is looked after still when another one has ended', async () => {
    let refusal: Error | undefined;
    const filter = signOut(() => {
      if (refusal) throw refusal;
    }, 1);
    const [ended, open] = [enter(), enter()];
    for (const exchange of [ended, open]) await filter(exchange);
    ended.end();
    refusal = newUnauthorized();
    await once(open.signal, 'abort');
  });

  it('that comes when all others are over ends just so', async () => {
    const filter = signOut(() => {
      throw newUnauthorized();
    }, 1);
    for (const exchange of [enter(), enter()]) {
      await filter(exchange);
      await once(exchange.signal, 'abort');
      exchange.end();
    }
  });

  it('goes on while nobody can tell', async () => {
    const asked = asking(() => {
      throw newServiceUnavailable('sessions cannot be seen');
    });
    const exchange = enter();
    await signOut(asked.check, 1)(exchange);
    await until(() => asked.times >= 3);
    expect(exchange.signal.aborted).to.equal(false);
  });

  it('concerns nobody after it has ended, as little as a request that ends by itself', async () => {
    const named: string[] = [];
    const filter = signOut(({ name }) => void named.push(name), 1);
    const [ended, short, other] = [enter(), enter(alice, false), enter({ ...alice, name: 'bob' })];
    for (const exchange of [ended, short]) await filter(exchange);
    ended.end();
    const asked = asking(() => undefined);
    await signOut(asked.check, 1)(other);
    await until(() => asked.times >= 3);
    expect(named).to.deep.equal([]);
  });
});
