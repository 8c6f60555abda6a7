// Tests of access tokens and the generated AuthenticationConfiguration, against a real kube-apiserver.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { AccessTokenAuthenticator } from '../../../../server/authentication/access-token-authenticator.ts';
import {
  AuthenticatorChain,
  BearerTokenAuthenticator,
} from '../../../../server/authentication/authenticator-chain.ts';
import { KeyRotator } from '../../../../server/oauth/keys/key-rotator.ts';
import { KeySecret, ROTATE_ANNOTATION } from '../../../../server/oauth/keys/key-secret.ts';
import { SIGNING_ALGORITHMS } from '../../../../server/oauth/keys/key-set.ts';
import { SessionValidity } from '../../../../server/oauth/sessions/session-validity.ts';
import { RevocationCheck } from '../../../../server/oauth/tokens/revocation-check.ts';
import { TokenIssuer, type TokenIssuerOptions } from '../../../../server/oauth/tokens/token-issuer.ts';
import { TokenVerifier } from '../../../../server/oauth/tokens/token-verifier.ts';
import { accessTokens } from '../../../../server/oauth/tokens/token-verifiers.ts';
import { NO_AUTHENTICATORS } from '../../../support/oauth/no-factors.ts';
import { NO_BROWSERS, NO_IDENTITIES } from '../../../support/oauth/no-providers.ts';
import { newClient } from '../../../support/oauth/oauth-clients.ts';
import { NO_FACTORS_NEEDED } from '../../../support/oauth/second-factors.ts';
import { passwordSince } from '../../../support/oauth/signed-in.ts';
import { until } from '../../../support/until.ts';
import { kubectl, run } from '../../hack/control-plane/programs.ts';
import { AUDIENCE, IssuingServer } from './issuing-server.ts';

const NOW = Date.now();
const CLIENT = newClient('console', { accessTokenLifetime: 600 });
const ALICE = {
  name: 'alice',
  uid: '6b0d1a34-8a0f-4d06-9b36-0b3b6f0f8a51',
  email: '',
  displayName: '',
  groups: ['developers', 'platform-admins'],
  disabled: false,
};
const SESSION = {
  id: 's-abcdefghijklmnopqrst',
  user: 'alice',
  userUID: ALICE.uid,
  clientID: CLIENT.id,
  createdAt: NOW,
  notAfter: NOW + 3_600_000,
  idleNotAfter: NOW + 3_600_000,
  refreshHash: '',
  familyHash: '',
};

describe('kube-apiserver with the generated AuthenticationConfiguration', function () {
  this.timeout(240_000);
  let cluster: IssuingServer;
  let issuer: TokenIssuer;

  const newIssuer = (changes: Partial<TokenIssuerOptions> = {}): TokenIssuer =>
    new TokenIssuer({ keys: cluster.keys, issuer: () => cluster.issuer, audience: AUDIENCE, ...changes });
  const tokenOf = (account = ALICE, by = issuer): string =>
    by.accessToken({ client: CLIENT, account, session: SESSION, scopes: ['openid'] }).token;

  before(async () => {
    cluster = await IssuingServer.start();
    issuer = newIssuer();
    await cluster.untilTrusted(tokenOf());
  });
  after(() => cluster?.stop());

  it('derives the same user from a token as our own authenticator', async () => {
    const token = tokenOf();
    const verifier = new TokenVerifier({
      keys: cluster.keys,
      issuer: () => cluster.issuer,
      kind: accessTokens(AUDIENCE),
      revocation: new RevocationCheck({
        sessions: { fresh: true, get: () => SESSION, read: () => Promise.resolve(SESSION) },
        validity: new SessionValidity({
          users: { synced: true, get: () => ALICE },
          credentials: { synced: true, get: () => passwordSince(0) },
          identities: NO_IDENTITIES,
          ...NO_BROWSERS,
          authenticators: NO_AUTHENTICATORS,
          factorPolicy: NO_FACTORS_NEEDED,
          now: Date.now,
        }),
      }),
    });
    const bearer = new BearerTokenAuthenticator([new AccessTokenAuthenticator(verifier)]);
    const chain = new AuthenticatorChain([bearer], { anonymous: false });
    const request = new IncomingMessage(new Socket());
    request.headers.authorization = `Bearer ${token}`;
    const { signal } = new AbortController();
    const ours = await chain.authenticate({ request, secure: true, signal });
    const { name: username, uid, groups, extra } = ours ?? { name: '', uid: '', groups: [], extra: {} };
    expect(await cluster.userOf(token)).to.deep.equal({ username, uid, groups, extra });
    expect(groups).to.deep.equal(['developers', 'platform-admins', 'system:authenticated']);
  });

  it('accepts a user with the maximum number of groups and the longest names', async () => {
    const groups = Array.from({ length: 64 }, (_, i) => `${i}`.padStart(2, '0') + '\u{10348}'.repeat(126));
    expect(await cluster.userOf(tokenOf({ ...ALICE, groups })))
      .to.have.property('groups')
      .that.includes.members(groups);
  });

  it('rejects an ID token, even of a client with the name of the audience', async () => {
    const client = { ...CLIENT, id: AUDIENCE };
    const token = issuer.idToken({ client, account: ALICE, session: SESSION, scopes: ['openid'] });
    expect(await cluster.userOf(token)).to.equal(401);
  });

  it('rejects privileged names regardless of the signature', async () => {
    for (const account of [
      { ...ALICE, name: 'system:admin' },
      { ...ALICE, groups: ['system:masters'] },
      { ...ALICE, name: 'a:b' },
    ]) {
      expect(await cluster.userOf(tokenOf(account))).to.equal(401);
    }
  });

  it('rejects an expired token, and a token for another audience', async () => {
    for (const changes of [{ now: () => NOW - 3_600_000 }, { audience: 'other' }]) {
      expect(await cluster.userOf(tokenOf(ALICE, newIssuer(changes)))).to.equal(401);
    }
  });

  it('accepts tokens of a new key at every replica that watches the Secret', async () => {
    const other = cluster.follow();
    const before = cluster.keys.signing().kid;
    await until(() => other.ready);
    const stop = new AbortController();
    const rotator = new KeyRotator({
      client: cluster.client,
      ...cluster.place,
      policy: { rotationInterval: 1e9, publishAhead: 1000, tokenLifetime: 1e6, macLifetime: 1e6 },
      subscribe: (changed) => cluster.keys.subscribe(changed),
      log: { info: () => undefined, warn: () => undefined },
    });
    const rotating = rotator.run(stop.signal);
    const old = tokenOf();
    const { controlPlane, place } = cluster;
    const secret = ['-n', place.namespace, 'secret', place.name];
    await kubectl(controlPlane, 'annotate', ...secret, `${ROTATE_ANNOTATION}=graceful`);
    await until(() => [cluster.keys, other].every((ring) => ring.signing().kid !== before));
    expect(other.signing().kid).to.equal(cluster.keys.signing().kid);
    expect(cluster.keys.jwks().keys.map(({ kid }) => kid)).to.include(before);
    const fresh = tokenOf();
    await cluster.untilTrusted(fresh);
    for (const token of [fresh, old]) expect(await cluster.userOf(token)).to.have.property('username');
    stop.abort();
    await rotating;
  });

  it('has a command that shows the keys without secrets and requests a rotation', async () => {
    const { controlPlane, place } = cluster;
    const flags = ['--kubeconfig', controlPlane.kubeconfig, '--namespace', place.namespace];
    const keys = (...args: string[]): Promise<string> =>
      run(process.execPath, [
        join(import.meta.dirname, '../../../../server/main.ts'),
        'keys',
        ...flags,
        ...args,
      ]);
    const listed = await keys('list');
    const { set } = await new KeySecret(cluster.client, place).read(AbortSignal.timeout(10_000));
    expect(listed.match(/^[\w-]{43} {2}(?:active|next|retired), /gm)).to.have.length(set.keys.length);
    for (const { jwk, macKey } of set.keys) {
      expect(listed).not.to.include(macKey);
      if (jwk?.d !== undefined) expect(listed).not.to.include(jwk.d);
    }
    expect(await keys('rotate', '--immediately')).to.include('immediate');
    expect(await keys('list')).to.include('requested, pending: immediate');
    const refused = await keys('rotat').catch((error: unknown) => String(error));
    expect(refused).to.include('there is no command "rotat"; did you mean rotate?');
    const missing = await keys('list', '--namespace', 'kube-public').catch((error: unknown) => String(error));
    expect(missing).to.include('Secret ks-apiserver-signing-keys not found in namespace kube-public: ');
  });

  it('has one key when several replicas start at the same time', async () => {
    const { namespace, name } = cluster.place;
    await kubectl(cluster.controlPlane, 'delete', '-n', namespace, 'secret', name);
    const rings = [cluster.keys, cluster.follow(), cluster.follow(), cluster.follow()];
    // One key record has a pair for each algorithm.
    const pairs = SIGNING_ALGORITHMS.length;
    await until(() => rings.every((ring) => ring.ready && ring.jwks().keys.length === pairs));
    expect(new Set(rings.map((ring) => ring.signing().kid)).size).to.equal(1);
  });
});
