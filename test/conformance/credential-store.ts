import { expect } from 'chai';
import type { CredentialStore, NewCredential } from '../../server/oauth/users/account.ts';
import { reasonOf } from './users.ts';

const { signal } = new AbortController();
const HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';
const BCRYPT = '$2b$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234';

export interface CreatingStore extends CredentialStore {
  create(user: string, credential: NewCredential, signal: AbortSignal): Promise<void>;
}

/**
 * What every keeper of passwords does. `uidOf` makes a user of that name, since a password belongs to one; `remove` takes
 * the password away, past the store, and resolves when the store has heard of it.
 */
export function describeCredentialStore(
  name: string,
  store: () => CreatingStore,
  uidOf: (user: string) => Promise<string>,
  remove: (user: string) => Promise<void>,
): void {
  describe(`${name}, as a keeper of passwords`, () => {
    const credentialOf = async (user: string): Promise<NewCredential> => ({
      passwordHash: HASH,
      userUID: await uidOf(user),
      mustChange: false,
      changedAt: 1_700_000_000_123,
    });

    it('shows a password as soon as it is set, with its time to the millisecond', async () => {
      const credential = await credentialOf('c-set');
      await store().set('c-set', { ...credential, mustChange: true }, signal);
      const { uid, resourceVersion, ...found } = store().get('c-set') ?? { uid: '', resourceVersion: '' };
      expect(found).to.deep.equal({ ...credential, mustChange: true });
      for (const made of [uid, resourceVersion]) expect(made).to.be.a('string').and.not.equal('');
    });

    it('replaces one that is there', async () => {
      const credential = await credentialOf('c-replaced');
      await store().set('c-replaced', { ...credential, passwordHash: BCRYPT }, signal);
      await store().set('c-replaced', { ...credential, changedAt: 1_800_000_000_000 }, signal);
      expect(store().get('c-replaced')).to.include({ passwordHash: HASH, changedAt: 1_800_000_000_000 });
    });

    it('replaces none that was changed since it was read', async () => {
      const credential = await credentialOf('c-raced');
      await store().set('c-raced', credential, signal);
      const read = store().get('c-raced');
      if (!read) throw new Error('the password is not there');
      await store().set('c-raced', { ...read, passwordHash: BCRYPT }, signal);
      expect(await reasonOf(store().set('c-raced', { ...read, mustChange: true }, signal))).to.equal(
        'Conflict',
      );
      expect(store().get('c-raced')).to.include({ passwordHash: BCRYPT, mustChange: false });
    });

    it('replaces none that is gone', async () => {
      const credential = await credentialOf('c-missing');
      const set = store().set('c-missing', { ...credential, resourceVersion: '1' }, signal);
      expect(await reasonOf(set)).to.equal('Conflict');
      expect(store().get('c-missing')).to.equal(undefined);
    });

    it('tells one that was replaced from one that was taken away and made anew, by its uid', async () => {
      const credential = await credentialOf('c-anew');
      await store().set('c-anew', credential, signal);
      const first = store().get('c-anew');
      if (!first) throw new Error('the password is not there');
      await store().set('c-anew', { ...credential, passwordHash: BCRYPT }, signal);
      expect(store().get('c-anew')).to.include({ uid: first.uid, passwordHash: BCRYPT });
      await remove('c-anew');
      await store().set('c-anew', credential, signal);
      const second = store().get('c-anew');
      expect(second).to.include(credential);
      expect(second?.uid).to.be.a('string').and.not.equal(first.uid);
    });

    it('gives nobody a first password twice', async () => {
      const credential = await credentialOf('c-first');
      await store().create('c-first', credential, signal);
      expect(
        await reasonOf(store().create('c-first', { ...credential, passwordHash: BCRYPT }, signal)),
      ).to.equal('AlreadyExists');
      expect(store().get('c-first')?.passwordHash).to.equal(HASH);
    });

    it('lets several set it at once, and one be the last', async () => {
      const credential = await credentialOf('c-many');
      const times = [1, 2, 3].map((index) => 1_700_000_000_000 + index);
      await Promise.all(
        times.map((changedAt) => store().set('c-many', { ...credential, changedAt }, signal)),
      );
      expect(times).to.include(store().get('c-many')?.changedAt);
    });
  });
}
