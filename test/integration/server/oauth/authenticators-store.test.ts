// Tests of the store of Authenticators objects with two replicas, against a real kube-apiserver.
import { inspect } from 'node:util';
import { expect } from 'chai';
import type { Passkey } from '../../../../apis/iam/v1beta1/authenticators-resource.ts';
import { newForbidden } from '../../../../apis/meta/v1/errors.ts';
import { SERVICE_ACCOUNT } from '../../../../hack/extension/registration.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import {
  AuthenticatorsStore,
  type Factors,
  NO_FACTORS,
} from '../../../../server/oauth/factors/authenticators-store.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';
import type { OAuthCluster } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const USER = { name: 'alice', uid: 'uid-of-alice' };
const TIME = '2026-01-02T03:04:05.678Z';
const { signal } = new AbortController();

function passkey(id: string): Passkey {
  return {
    id,
    publicKey: 'AAAA',
    counter: 0,
    transports: ['usb'],
    name: id,
    backedUp: false,
    addedTime: TIME,
  };
}
function code(digit: string): { readonly hash: string } {
  return { hash: digit.repeat(64) };
}
const TOTP = { secret: 'sealed', addedTime: TIME, lastStep: 0 };

describe('the store of authenticators', () => {
  let cluster: OAuthCluster;
  let stop: AbortController;
  let client: ClusterConnection;
  let a: AuthenticatorsStore;
  let b: AuthenticatorsStore;

  before(async () => {
    cluster = await sharedCluster();
    // With the permissions of the server.
    const kubeconfig = await cluster.controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
    client = new ClusterConnection({ kubeConfig: kubeConfigSource(kubeconfig) });
  });
  beforeEach(async () => {
    stop = new AbortController();
    [a, b] = [newStore(), newStore()];
    for (const store of [a, b]) void store.run(stop.signal);
    await until(() => a.synced && b.synced);
  });
  afterEach(async () => {
    stop.abort();
    await cluster.reset();
  });
  after(() => client.close());

  function newStore(): AuthenticatorsStore {
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
    return new AuthenticatorsStore({
      client,
      group: 'iam.platform.io',
      lookups: new Admission().lookups(),
      log,
    });
  }
  const stored = async (): Promise<Readonly<Record<string, unknown>>> =>
    (await cluster.object('authenticators/alice')).spec;
  const set = (factors: Partial<Factors>, store = a): Promise<Factors | undefined> =>
    store.update(USER, () => ({ ...NO_FACTORS, ...factors }), signal);

  it('returns what it has written, and what the other replica has written', async () => {
    const factors: Factors = {
      passkeys: [passkey('one')],
      totp: TOTP,
      recoveryCodes: [code('a'), { ...code('b'), notAfter: TIME }],
    };
    expect(a.of(USER)).to.deep.equal(NO_FACTORS);
    await set(factors);
    expect(a.of(USER)).to.deep.equal(factors);
    await until(() => b.of(USER).totp !== undefined);
    expect(b.of(USER)).to.deep.equal(factors);
    expect(await stored()).to.deep.equal({ userUID: USER.uid, ...factors });
  });

  it('keeps the changes of all concurrent writers', async () => {
    const add = (store: AuthenticatorsStore, id: string): Promise<unknown> =>
      store.update(USER, (now) => ({ ...now, passkeys: [...now.passkeys, passkey(id)] }), signal);
    await Promise.all([add(a, 'one'), add(b, 'two'), add(a, 'three')]);
    expect((await stored())['passkeys']).to.have.length(3);
  });

  it('deletes an object without factors', async () => {
    await set({ totp: TOTP });
    await until(() => b.of(USER).totp !== undefined);
    await set({}, b);
    expect((await rejection(stored())).message).to.include('not found');
    expect(b.of(USER)).to.deep.equal(NO_FACTORS);
    await until(() => a.of(USER).totp === undefined);
  });

  it('gives a recreated user nothing of the earlier one', async () => {
    await set({ totp: TOTP, recoveryCodes: [code('a')] });
    const recreated = { ...USER, uid: 'another-uid' };
    expect(a.of(recreated)).to.deep.equal(NO_FACTORS);
    await a.update(recreated, (now) => ({ ...now, recoveryCodes: [code('c')] }), signal);
    expect(a.of(recreated)).to.deep.equal({ passkeys: [], totp: undefined, recoveryCodes: [code('c')] });
    expect(a.of(USER)).to.deep.equal(NO_FACTORS);
  });

  it('writes nothing when the change is declined, or fails', async () => {
    await set({ totp: TOTP });
    expect(await a.update(USER, () => undefined, signal)).to.equal(undefined);
    const failed = newForbidden({ group: '', resource: '' }, '', 'no');
    const change = (): never => {
      throw failed;
    };
    expect(await rejection(a.update(USER, change, signal))).to.equal(failed);
    expect(a.of(USER).totp).to.deep.equal(TOTP);
  });

  it('never repeats a rejected value in an error', async () => {
    const error = await rejection(set({ totp: { ...TOTP, secret: `TOPSECRET${'x'.repeat(2000)}` } }));
    expect(inspect(error)).not.to.include('TOPSECRET');
  });
});
