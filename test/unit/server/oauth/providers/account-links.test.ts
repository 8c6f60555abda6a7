// Tests which identities users can link and unlink. test/integration has the same with a provider and a cluster.
import { expect } from 'chai';
import { identityName } from '../../../../../apis/iam/v1beta1/identity-resource.ts';
import { newServiceUnavailable, StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { AccountLinks } from '../../../../../server/oauth/providers/account-links.ts';
import type { UserID } from '../../../../../server/oauth/users/account.ts';
import type { Identity, NewIdentity } from '../../../../../server/oauth/users/identity-store.ts';
import { MemoryCredentials } from '../../../../support/oauth/memory-users.ts';
import { rejection } from '../../../../support/rejection.ts';

const CALL = { signal: new AbortController().signal };
const ALICE = { name: 'alice', uid: 'uid-of-alice' };
const BOB = { name: 'bob', uid: 'uid-of-bob' };

class Scene {
  now = 1_000_000;
  readonly stored = new Map<string, Identity>();
  readonly credentials = new MemoryCredentials();
  /** What the cache lacks. */
  readonly lagging = new Set<string>();
  readonly links = new AccountLinks({
    providers: [{ name: 'company', displayName: 'Company account' }],
    store: {
      synced: true,
      get: (name) => (this.lagging.has(name) ? undefined : this.stored.get(name)),
      ofUser: ({ name, uid }) =>
        [...this.stored.values()].filter(({ user, userUID }) => user === name && userUID === uid),
      catchUp: async (name) => void this.lagging.delete(name),
      create: async (identity: NewIdentity, linkedAt) => {
        if (identity.subject === 'unlucky') throw newServiceUnavailable('the cluster is unavailable');
        const name = identityName(identity);
        if (this.stored.has(name)) throw new StatusError(409, 'AlreadyExists', 'already exists');
        const created = { ...identity, name, uid: `uid-of-${name}`, linkedAt };
        this.stored.set(name, created);
        return created;
      },
      delete: async ({ name }) => void this.stored.delete(name),
      deleteBeside: async ({ name }, kept) => this.stored.has(kept.name) && this.stored.delete(name),
    },
    credentials: this.credentials,
    now: () => this.now++,
  });

  link(subject: string, user: UserID = ALICE, provider = 'company', issuer = 'https://login.example.com') {
    return this.links.link(provider, { issuer, subject, name: `name of ${subject}`, groups: [] }, user, CALL);
  }

  unlink(index: number, user: UserID = ALICE) {
    return this.links.unlink(this.links.of(user)[index]?.name ?? '', user, CALL.signal);
  }
}

describe('AccountLinks', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });
  const setPassword = (userUID: string) =>
    scene.credentials.set('alice', { userUID, passwordHash: 'x', mustChange: false, changedAt: 1 });

  it('lists the identities of a user, the oldest first', async () => {
    expect([await scene.link('one'), await scene.link('two')]).to.deep.equal(['linked', 'linked']);
    expect(await scene.link('three', BOB)).to.equal('linked');
    const listed = scene.links.of(ALICE);
    expect(listed.map((each) => [each.provider, each.displayName, each.linkedAt])).to.deep.equal([
      ['Company account', 'name of one', 1_000_000],
      ['Company account', 'name of two', 1_000_001],
    ]);
    expect(scene.links.providerOf(listed[0]?.name ?? '')).to.equal('Company account');
    expect(scene.links.providerOf('i-unknown')).to.equal(undefined);
  });

  it('never gives a person to a second user, also if the cache lacks the link, or to a recreated user', async () => {
    await scene.link('one', BOB);
    expect(await scene.link('one')).to.equal('belongs to another user');
    expect(await scene.link('one', BOB)).to.equal('already linked');
    expect(await scene.link('one', { ...BOB, uid: 'uid-of-another-bob' })).to.equal(
      'belongs to another user',
    );
    for (const name of scene.stored.keys()) scene.lagging.add(name);
    expect(await scene.link('one')).to.equal('belongs to another user');
    expect(scene.links.of(ALICE)).to.deep.equal([]);
  });

  it('distinguishes people of different providers and issuers with the same subject', async () => {
    await scene.link('one', BOB);
    expect(await scene.link('one', ALICE, 'other')).to.equal('linked');
    expect(await scene.link('one', ALICE, 'company', 'https://other.example.com')).to.equal('linked');
  });

  it('links at most ten people, and reports an outage of the cluster', async () => {
    for (let index = 0; index < 10; index++) expect(await scene.link(`${index}`)).to.equal('linked');
    expect(await scene.link('11')).to.equal('too many');
    expect(await scene.link('3')).to.equal('already linked');
    expect((await rejection(scene.link('unlucky', BOB))).message).to.contain('unavailable');
  });

  it('keeps the last way to sign in', async () => {
    await scene.link('one');
    expect(await scene.unlink(0)).to.equal('last way to sign in');
    await setPassword('uid-of-an-earlier-alice');
    expect(await scene.unlink(0)).to.equal('last way to sign in');
    // The provider is not configured any more.
    await scene.link('two', ALICE, 'removed');
    expect(await scene.unlink(0)).to.equal('last way to sign in');
    expect(scene.links.canSignIn(ALICE)).to.equal(true);
    expect(await scene.unlink(1), 'the useless one').to.equal('unlinked');
    await scene.link('three');
    expect(await scene.unlink(0), 'another one is left').to.equal('unlinked');
    expect(await scene.unlink(0)).to.equal('last way to sign in');
    await setPassword(ALICE.uid);
    expect(await scene.unlink(0), 'a password is left').to.equal('unlinked');
    expect(scene.links.of(ALICE)).to.deep.equal([]);
  });

  it('does not count an identity of a provider that is not configured as a way to sign in', async () => {
    await scene.link('one', ALICE, 'removed');
    expect(scene.links.canSignIn(ALICE)).to.equal(false);
    await scene.link('two', BOB);
    expect(scene.links.canSignIn(ALICE)).to.equal(false);
  });
});
