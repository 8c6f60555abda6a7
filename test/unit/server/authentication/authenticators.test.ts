// Tests of authentication by TokenReview and session checks. A token of an ended session must be rejected, even with a
// cached TokenReview.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type {
  AuthenticationRequest,
  Authenticator,
} from '../../../../server/authentication/authenticator.ts';
import { type Authenticators, newAuthenticators } from '../../../../server/authentication/authenticators.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { ClusterReviews } from '../../../../server/cluster/reviews.ts';
import { isKubernetesAPI } from '../../../../server/gateway/proxied-request.ts';
import { TokenIDCheck } from '../../../../server/oauth/tokens/revocation-check.ts';
import { TokenVerifier } from '../../../../server/oauth/tokens/token-verifier.ts';
import { idTokensOf } from '../../../../server/oauth/tokens/token-verifiers.ts';
import { AccessMetrics } from '../../../../server/observability/access-metrics.ts';
import { ScriptedCluster } from '../../../support/cluster/scripted-cluster.ts';
import { ISSUER } from '../../../support/oauth/sign-in-site.ts';
import { type Login, type Replica, SignedInCluster } from '../../../support/oauth/signed-in.ts';
import { fewSeats } from '../../../support/request-pools.ts';
import { until } from '../../../support/until.ts';

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';
const TTL = 10_000;

describe('callers with reviewed tokens', () => {
  let cluster: ScriptedCluster;
  let signedIn: SignedInCluster;
  let replica: Replica;
  let login: Login;
  let authenticator: Authenticator;
  let authenticators: (ttlMs: number) => Authenticators;
  /** Whether kube-apiserver accepts the token. */
  let authenticated: boolean;
  let jti: string;
  let token: string;
  const stop = new AbortController();

  beforeEach(async () => {
    signedIn = await SignedInCluster.start();
    replica = await signedIn.replica();
    login = await replica.signIn();
    jti = `ks.${login.session.id}.AAAAAAAAAAAAAAAA`;
    token = 'opaque';
    authenticated = true;
    cluster = await ScriptedCluster.start(({ response }) => {
      const user = { username: 'alice', extra: { [CREDENTIAL_ID]: [`JTI=${jti}`] } };
      const review = { kind: 'TokenReview', status: { authenticated, user } };
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(review));
    });
    const client = cluster.connect();
    const metrics = new AccessMetrics(new Registry());
    const dependencies = {
      client,
      reviews: new ClusterReviews(client, metrics),
      lookups: fewSeats(100),
      log: pino({ level: 'silent' }),
      signal: stop.signal,
      metrics,
      oauth: {
        verifier: replica.site.verifier,
        idTokens: new TokenVerifier({
          kind: idTokensOf(['console']),
          keys: signedIn.state.keys,
          issuer: () => ISSUER,
          revocation: replica.site.revocation,
          now: () => signedIn.state.now,
        }),
        tokenIDs: new TokenIDCheck(replica.site.revocation),
      },
      isKubernetesAPI,
      isSignIn: () => false,
      isAtProxyHost: () => false,
    };
    authenticators = (tokenCacheTTL) => {
      const config = { authentication: { anonymous: true, tokenCacheTTL }, cors: { allowedOrigins: [] } };
      return newAuthenticators(config, dependencies);
    };
    ({ authenticator } = authenticators(TTL));
  });
  afterEach(async () => {
    await cluster.stop();
    await signedIn.close();
  });
  after(() => stop.abort());

  async function caller(url = '/', socket = new Socket()): Promise<UserInfo | undefined | number> {
    const request = Object.assign(new IncomingMessage(socket), { url });
    // By default an opaque token, so the server cannot recognise it as its own.
    request.headers.authorization = `Bearer ${token}`;
    try {
      return await authenticator.authenticate({ request, secure: false, signal: stop.signal });
    } catch (error) {
      return error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
    }
  }

  it('are accepted', async () => {
    for (const id of [jti, 'b1946ac9-2492-4d8a-9f3e-0d6e5a0c0c0c']) {
      jti = id;
      token = `opaque-${id}`;
      expect(await caller()).to.include({ name: 'alice' });
    }
  });

  it('are rejected after their session has ended, despite a cached review', async () => {
    expect(await caller()).to.include({ name: 'alice' });
    await replica.site.store.delete(login.session.id, stop.signal);
    expect(await caller()).to.equal(401);
    expect(cluster.calls).to.have.length(1);
  });

  it('are rejected during a stream when kube-apiserver no longer accepts the token', async () => {
    jti = 'b1946ac9-2492-4d8a-9f3e-0d6e5a0c0c0c';
    const uncached = authenticators(0);
    const request = new IncomingMessage(new Socket());
    request.headers.authorization = `Bearer ${token}`;
    const context: AuthenticationRequest = { request, secure: false, signal: stop.signal };
    await uncached.authenticator.authenticate(context);
    // As the filter does.
    request.headers.authorization = undefined;
    expect(await uncached.checkCredential(context)).to.include({ name: 'alice' });
    authenticated = false;
    let rejected: unknown;
    await until(async () => {
      await Promise.resolve(uncached.checkCredential(context)).catch((error: unknown) => {
        rejected = error;
      });
      return rejected !== undefined;
    });
    expect(rejected).to.include({ code: 401 });
  });

  it('are never those of an ID token, which is accepted at paths of kube-apiserver only', async () => {
    token = login.id;
    // All requests on one connection, for which the authenticator is remembered.
    const socket = new Socket();
    for (const path of [
      '/api/v1/pods?limit=1',
      '/apis/resources.platform.io/v1alpha3/nodes',
      '/version',
      '/openapi/v3',
    ]) {
      expect(await caller(path, socket), path).to.include({ name: 'alice' });
    }
    for (const path of [
      '/kapis/iam.platform.io/v1beta1/users/alice/password',
      '/apisx',
      '/openapi/page',
      '/metrics',
      '/account',
      '//api/v1/pods',
      'https://localhost/api/v1/pods',
    ]) {
      expect(await caller(path, socket), path).to.equal(401);
    }
    token = (await replica.signIn('other')).id;
    expect(await caller('/api/v1/pods')).to.equal(401);
    expect(cluster.calls).to.have.length(0);
  });
});
