// Tests of the authentication of bearer tokens by TokenReview.
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { isUnauthorized, newServiceUnavailable, StatusError } from '../../../../apis/meta/v1/errors.ts';
import type { Seats } from '../../../../server/admission/seats.ts';
import { BearerTokenAuthenticator } from '../../../../server/authentication/authenticator-chain.ts';
import { TokenReviewAuthenticator } from '../../../../server/authentication/token-review.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { ClusterReviews } from '../../../../server/cluster/reviews.ts';
import { rejection } from '../../../support/rejection.ts';
import { fewSeats } from '../../../support/request-pools.ts';

type Cluster = ReturnType<typeof fakeCluster>;

const SA = { username: 'sa', uid: '7', groups: ['g'], extra: { k: ['v'] } };

/** The status of a TokenReview in a cluster that knows the token `good`. */
const reviewOf = async (token: string): Promise<object> =>
  token === 'good' ? { authenticated: true, user: SA } : { error: 'no such token' };

/** `review`: returns the status of a TokenReview. */
function fakeCluster(review: (token: string, signal: AbortSignal) => Promise<object> = reviewOf) {
  const requests: unknown[] = [];
  const client: ClusterClient = {
    open: () => Promise.reject(new Error('not used')),
    json: async ({ json, signal }) => {
      requests.push(json);
      return { status: await review((json as { spec: { token: string } }).spec.token, signal) };
    },
  };
  return { client, requests };
}

describe('bearer tokens', () => {
  const abort = new AbortController();
  let time = 0;

  function reviewed(
    cluster: Cluster,
    options: { seats?: Seats; cacheSize?: number } = {},
  ): TokenReviewAuthenticator {
    return new TokenReviewAuthenticator({
      reviews: new ClusterReviews(cluster.client),
      seats: fewSeats(100),
      signal: abort.signal,
      successTtlMs: 10_000,
      failureTtlMs: 4000,
      monotonic: () => time,
      ...options,
    });
  }

  const authenticator = (...options: Parameters<typeof reviewed>): BearerTokenAuthenticator =>
    new BearerTokenAuthenticator([reviewed(...options)]);

  async function ask(
    bearer: BearerTokenAuthenticator,
    authorization: string | undefined,
    signal = new AbortController().signal,
  ): Promise<UserInfo | undefined> {
    const request = new IncomingMessage(new Socket());
    if (authorization !== undefined) request.headers.authorization = authorization;
    return bearer.authenticate({ request, secure: true, signal });
  }

  beforeEach(() => {
    time = 1;
  });

  it('are reviewed once per TTL', async () => {
    const cluster = fakeCluster();
    const bearer = authenticator(cluster);
    const first = await ask(bearer, 'Bearer good');
    const refused = await rejection(ask(bearer, 'bearer bad'));
    expect(refused).to.satisfy(isUnauthorized).and.to.have.nested.property('cause.message', 'no such token');
    time = 3999;
    expect(await rejection(ask(bearer, 'bearer bad'))).to.satisfy(isUnauthorized);
    expect(cluster.requests).to.have.length(2);
    time = 4_002;
    await rejection(ask(bearer, 'bearer bad'));
    expect(cluster.requests).to.have.length(3);
    time = 10_000;
    expect(await ask(bearer, 'Bearer good')).to.equal(first);
    expect(cluster.requests).to.have.length(3);
    time = 10_001;
    await ask(bearer, 'Bearer good');
    expect(cluster.requests).to.have.length(4);
  });

  it('are reviewed once for concurrent requests', async () => {
    const cluster = fakeCluster();
    const bearer = authenticator(cluster);
    await Promise.all(Array.from({ length: 50 }, () => ask(bearer, 'Bearer good')));
    expect(cluster.requests).to.have.length(1);
  });

  it('return 503 when kube-apiserver does not respond, without caching it', async () => {
    let down = true;
    const cluster = fakeCluster((token) =>
      down ? Promise.reject(newServiceUnavailable('down')) : reviewOf(token),
    );
    const bearer = authenticator(cluster);
    expect(await rejection(ask(bearer, 'Bearer good'))).to.include({ code: 503 });
    down = false;
    expect(await ask(bearer, 'Bearer good')).to.include({ name: 'sa' });
  });

  it('return 401 when the review does not authenticate, and 503 when it names no user', async () => {
    const codeFor = async (status: object): Promise<unknown> => {
      const cluster = fakeCluster(() => Promise.resolve(status));
      return rejection(ask(authenticator(cluster), 'Bearer good'));
    };
    for (const status of [{ authenticated: false }, {}, { user: { username: 'u' } }]) {
      expect(await codeFor(status), JSON.stringify(status)).to.include({ code: 401 });
    }
    for (const user of [undefined, {}, { username: '' }]) {
      expect(await codeFor({ authenticated: true, user }), JSON.stringify(user)).to.include({ code: 503 });
    }
  });

  it('release a disconnected client immediately, and serve the other one', async () => {
    const { promise, resolve } = Promise.withResolvers<object>();
    const cluster = fakeCluster(() => promise);
    const bearer = authenticator(cluster);
    const leaving = new AbortController();
    const left = rejection(ask(bearer, 'Bearer t', leaving.signal));
    const stays = ask(bearer, 'Bearer t');
    leaving.abort(new Error('gone'));
    expect(await left).to.have.property('message', 'gone');
    resolve({ authenticated: true, user: SA });
    expect(await stays).to.include({ name: 'sa' });
    expect(cluster.requests).to.have.length(1);
  });

  it('are reviewed in a limited number when clients invent them', async () => {
    const waiting = new AbortController();
    const cluster = fakeCluster(async (_token, signal) => {
      await Promise.race([once(waiting.signal, 'abort'), once(signal, 'abort')]);
      return {};
    });
    const bearer = authenticator(cluster, { seats: fewSeats(6, 'reserve') });
    const pending = [1, 2, 3].map((i) => rejection(ask(bearer, `Bearer invented-${i}`)));
    expect(await rejection(ask(bearer, 'Bearer invented-4'))).to.include({ code: 429 });
    waiting.abort();
    for (const error of await Promise.all(pending)) expect(error).to.satisfy(isUnauthorized);
  });

  it('are rejected without a review when malformed, as are other schemes', async () => {
    const cluster = fakeCluster();
    const malformed = ['', 'Bearer', 'Bearer ', 'Bearer  good', 'Bearer a b', 'Bearer a,b', 'Bearer "a"'];
    const others = ['Basic YTpi', 'Negotiate x', 'Bearerx y', 'good', '\xc2\xa0Bearer good', 'Bearer\tgood'];
    for (const text of [...malformed, ...others, `Bearer ${'x'.repeat(70_000)}`]) {
      const error = await rejection(ask(authenticator(cluster), text));
      expect(error, text.slice(0, 12)).to.satisfy(isUnauthorized);
    }
    expect(await ask(authenticator(cluster), undefined)).to.equal(undefined);
    expect(cluster.requests).to.have.length(0);
  });

  it('leave other schemes to a handler that authenticates clients', async () => {
    const bearer = new BearerTokenAuthenticator([reviewed(fakeCluster())], () => true);
    expect(await ask(bearer, 'Basic YTpi')).to.equal(undefined);
    for (const text of ['Bearer  good', 'Bearer']) {
      expect(await rejection(ask(bearer, text)), text).to.satisfy(isUnauthorized);
    }
  });

  it('are reviewed again if known, even while clients invent others', async () => {
    const held: (() => void)[] = [];
    const cluster = fakeCluster(async (token) => {
      if (token.startsWith('invented')) await new Promise<void>((resolve) => held.push(resolve));
      return reviewOf(token);
    });
    const bearer = authenticator(cluster, { seats: fewSeats(4, 'reserve') });
    await ask(bearer, 'Bearer good');
    time = 60_000;
    const invented = [1, 2, 3, 4].map((number) => rejection(ask(bearer, `Bearer invented-${number}`)));
    expect(await ask(bearer, 'Bearer good')).to.include({ name: 'sa' });
    expect(held).to.have.length(2);
    for (const release of held) release();
    const codes = (await Promise.all(invented)).map((error) => error instanceof StatusError && error.code);
    expect(codes).to.deep.equal([401, 401, 429, 429]);
  });

  it('stay in the cache while clients invent others, and while a tenant creates many', async () => {
    const cluster = fakeCluster(async (token) =>
      token.startsWith('invented')
        ? { error: 'no such token' }
        : { authenticated: true, user: { username: `system:serviceaccount:${token.slice(0, 4)}:sa` } },
    );
    const bearer = authenticator(cluster, { cacheSize: 4 });
    await ask(bearer, 'Bearer good');
    for (let i = 0; i < 10; i++) await rejection(ask(bearer, `Bearer invented-${i}`));
    for (let i = 0; i < 10; i++) await ask(bearer, `Bearer many-${i}`);
    cluster.requests.splice(0);
    await ask(bearer, 'Bearer good');
    expect(cluster.requests).to.deep.equal([]);
    await ask(bearer, 'Bearer many-0');
    expect(cluster.requests).to.have.length(1);
  });

  it('of one tenant share the quota of the tenant', async () => {
    const held: (() => void)[] = [];
    let hangs = false;
    const cluster = fakeCluster(async (token) => {
      if (hangs && token !== 'other') await new Promise<void>((resolve) => held.push(resolve));
      const namespace = token === 'other' ? 'other' : 'many';
      return { authenticated: true, user: { username: `system:serviceaccount:${namespace}:${token}` } };
    });
    const bearer = authenticator(cluster, { seats: fewSeats(4, 'reserve') });
    const many = ['a', 'b', 'c', 'd', 'e'];
    for (const token of [...many, 'other']) await ask(bearer, `Bearer ${token}`);
    time = 60_000;
    hangs = true;
    const reviews = many.map((token) =>
      ask(bearer, `Bearer ${token}`).then(
        () => 200,
        (error: unknown) => error instanceof StatusError && error.code,
      ),
    );
    expect(await ask(bearer, 'Bearer other')).to.include({ name: 'system:serviceaccount:other:other' });
    for (const release of held) release();
    expect(await Promise.all(reviews)).to.deep.equal([200, 200, 429, 429, 429]);
  });

  it('lose their quota when they become invalid', async () => {
    const held: (() => void)[] = [];
    let good = true;
    const cluster = fakeCluster(async (token) => {
      if (token.startsWith('invented')) await new Promise<void>((resolve) => held.push(resolve));
      return { authenticated: good, user: SA };
    });
    const bearer = authenticator(cluster, { seats: fewSeats(4, 'reserve') });
    await ask(bearer, 'Bearer once-good');
    good = false;
    time = 10_001;
    expect(await rejection(ask(bearer, 'Bearer once-good'))).to.satisfy(isUnauthorized);
    time = 20_002;
    const invented = [1, 2].map((number) => rejection(ask(bearer, `Bearer invented-${number}`)));
    expect(await rejection(ask(bearer, 'Bearer once-good'))).to.include({ code: 429 });
    for (const release of held) release();
    await Promise.all(invented);
  });

  it('are passed to each kind in order until one recognises them', async () => {
    const mine = { name: 'mine', uid: '', groups: [], extra: {} };
    const cluster = fakeCluster();
    const bearer = new BearerTokenAuthenticator([
      { name: 'local', authenticate: ({ text }) => (text === 'local' ? mine : undefined) },
      { name: 'slow', authenticate: () => Promise.resolve(undefined) },
      reviewed(cluster),
    ]);
    expect(await ask(bearer, 'Bearer local')).to.equal(mine);
    expect(cluster.requests).to.have.length(0);
    expect(await ask(bearer, 'Bearer good')).to.include({ name: 'sa' });
  });

  it('are rejected when no kind recognises them', async () => {
    const nobody = [
      { name: 'local', authenticate: () => undefined },
      { name: 'slow', authenticate: () => Promise.resolve(undefined) },
    ];
    for (const kinds of [[], nobody, nobody.toReversed()]) {
      const failed = await rejection(ask(new BearerTokenAuthenticator(kinds), 'Bearer strange'));
      expect(failed).to.satisfy(isUnauthorized);
      expect(failed).to.have.nested.property('cause.message', 'no authenticator recognises the bearer token');
    }
  });
});
