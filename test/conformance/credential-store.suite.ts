// Conformance tests of credential stores.
import { expect } from 'chai';
import type { CredentialStore, NewCredential } from '../../server/oauth/users/account.ts';
import { reasonOf } from './users.suite.ts';

const { signal } = new AbortController();
const HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';
const BCRYPT = '$2b$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234';

interface CreatingStore extends CredentialStore {
  create(user: string, credential: NewCredential, signal: AbortSignal): Promise<void>;
}

/**
 * Contract of every CredentialStore. `uidOf` creates a user with that name; `remove` deletes the password without the
 * store, and resolves once the store has noticed.
 */
export function describeCredentialStore(
  name: string,
  store: () => CreatingStore,
  uidOf: (user: string) => Promise<string>,
  remove: (user: string) => Promise<void>,
): void {
  describe(`${name} as a credential store`, () => {
    const credentialOf = async (user: string): Promise<NewCredential> => ({
      passwordHash: HASH,
      userUID: await uidOf(user),
      mustChange: false,
      changedAt: 1_700_000_000_123,
    });

    it('returns a password right after it is set, with its time in milliseconds', async () => {
      const credential = await credentialOf('c-set');
      await store().set('c-set', { ...credential, mustChange: true }, signal);
      const { uid, resourceVersion, ...found } = store().get('c-set') ?? { uid: '', resourceVersion: '' };
      expect(found).to.deep.equal({ ...credential, mustChange: true });
      for (const made of [uid, resourceVersion]) expect(made).to.be.a('string').and.not.equal('');
    });

    it('replaces an existing password', async () => {
      const credential = await credentialOf('c-replaced');
      await store().set('c-replaced', { ...credential, passwordHash: BCRYPT }, signal);
      await store().set('c-replaced', { ...credential, changedAt: 1_800_000_000_000 }, signal);
      expect(store().get('c-replaced')).to.include({ passwordHash: HASH, changedAt: 1_800_000_000_000 });
    });

    it('rejects a replacement with an old resourceVersion', async () => {
      const credential = await credentialOf('c-raced');
      await store().set('c-raced', credential, signal);
      const read = store().get('c-raced');
      if (!read) throw new Error('password not found');
      await store().set('c-raced', { ...read, passwordHash: BCRYPT }, signal);
      expect(await reasonOf(store().set('c-raced', { ...read, mustChange: true }, signal))).to.equal(
        'Conflict',
      );
      expect(store().get('c-raced')).to.include({ passwordHash: BCRYPT, mustChange: false });
    });

    it('rejects the replacement of a deleted password', async () => {
      const credential = await credentialOf('c-missing');
      const set = store().set('c-missing', { ...credential, resourceVersion: '1' }, signal);
      expect(await reasonOf(set)).to.equal('Conflict');
      expect(store().get('c-missing')).to.equal(undefined);
    });

    it('keeps the uid on replacement, and has another one after recreation', async () => {
      const credential = await credentialOf('c-recreated');
      await store().set('c-recreated', credential, signal);
      const first = store().get('c-recreated');
      if (!first) throw new Error('password not found');
      await store().set('c-recreated', { ...credential, passwordHash: BCRYPT }, signal);
      expect(store().get('c-recreated')).to.include({ uid: first.uid, passwordHash: BCRYPT });
      await remove('c-recreated');
      await store().set('c-recreated', credential, signal);
      const second = store().get('c-recreated');
      expect(second).to.include(credential);
      expect(second?.uid).to.be.a('string').and.not.equal(first.uid);
    });

    it('rejects the creation of an existing password', async () => {
      const credential = await credentialOf('c-first');
      await store().create('c-first', credential, signal);
      expect(
        await reasonOf(store().create('c-first', { ...credential, passwordHash: BCRYPT }, signal)),
      ).to.equal('AlreadyExists');
      expect(store().get('c-first')?.passwordHash).to.equal(HASH);
    });

    it('resolves concurrent writes', async () => {
      const credential = await credentialOf('c-many');
      const times = [1, 2, 3].map((index) => 1_700_000_000_000 + index);
      await Promise.all(
        times.map((changedAt) => store().set('c-many', { ...credential, changedAt }, signal)),
      );
      expect(times).to.include(store().get('c-many')?.changedAt);
    });
  });
}
