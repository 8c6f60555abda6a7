import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable, newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { Exchange } from '../../../../server/filters/exchange.ts';
import { type StillSignedIn, signOut } from '../../../../server/filters/sign-out.ts';
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

  /** Resolves when it was asked about the caller so many times. */
  function asking(answer: StillSignedIn): { check: StillSignedIn; times(count: number): Promise<void> } {
    let asked = 0;
    let wake = (): void => undefined;
    return {
      check: (user, scope) => {
        asked++;
        wake();
        return answer(user, scope);
      },
      times: async (count) => {
        while (asked < count) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
    };
  }

  it('goes on while its caller is signed in, and ends when he is not any more', async () => {
    let refusal: Error | undefined;
    const { check, times } = asking(() => {
      if (refusal) throw refusal;
    });
    const exchange = enter();
    await signOut(check, 1)(exchange);
    await times(3);
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

  it('goes on while nobody can tell', async () => {
    const { check, times } = asking(() => {
      throw newServiceUnavailable('sessions can not be seen');
    });
    const exchange = enter();
    await signOut(check, 1)(exchange);
    await times(3);
    expect(exchange.signal.aborted).to.equal(false);
  });

  it('is nobody’s business after it has ended, nor is a request that ends by itself', async () => {
    const asked: string[] = [];
    const filter = signOut(({ name }) => void asked.push(name), 1);
    const [ended, short, other] = [enter(), enter(alice, false), enter({ ...alice, name: 'bob' })];
    for (const exchange of [ended, short]) await filter(exchange);
    ended.end();
    const { check, times } = asking(() => undefined);
    await signOut(check, 1)(other);
    await times(3);
    expect(asked).to.deep.equal([]);
  });
});
