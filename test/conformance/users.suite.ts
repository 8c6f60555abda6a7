// Conformance tests of user directories.
import { expect } from 'chai';
import type { User } from '../../apis/iam/v1beta1/user-resource.ts';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import type { Users } from '../../server/oauth/users/user-directory.ts';

const { signal } = new AbortController();

/** Contract of every implementation of Users. Each test creates its own users. */
export function describeUsers(name: string, users: () => Users): void {
  describe(`${name} as a user directory`, () => {
    const ada = (userName: string, spec: User['spec'] = {}): User => ({ metadata: { name: userName }, spec });

    it('returns a user right after its creation', async () => {
      const spec = { email: 'ada@example.com', displayName: 'Ada', groups: ['dev', 'ops'], disabled: true };
      const made = await users().create(ada('u-made', spec), signal);
      expect(made.spec).to.deep.equal(spec);
      expect(made.metadata.uid).to.be.a('string').and.not.equal('');
      expect(users().synced).to.equal(true);
      expect(users().get('u-made')).to.deep.equal({ name: 'u-made', uid: made.metadata.uid, ...spec });
      expect(users().object('u-made')?.spec).to.deep.equal(spec);
      expect([...users().objects()].map(({ metadata }) => metadata.name)).to.include('u-made');
      expect(await users().anyExists(signal)).to.equal(true);
      expect((await users().read('u-made', signal))?.metadata.uid).to.equal(made.metadata.uid);
    });

    it('rejects an existing name', async () => {
      await users().create(ada('u-twice'), signal);
      expect(await reasonOf(users().create(ada('u-twice'), signal))).to.equal('AlreadyExists');
    });

    it('returns a replaced user at once', async () => {
      const made = await users().create(ada('u-replaced', { groups: ['dev'] }), signal);
      const next = await users().replace({ ...made, spec: { disabled: true } }, signal);
      expect(next.metadata.uid).to.equal(made.metadata.uid);
      expect(users().get('u-replaced')).to.include({ disabled: true }).and.have.deep.property('groups', []);
    });

    it('rejects a replacement with an old resourceVersion', async () => {
      const made = await users().create(ada('u-raced'), signal);
      await users().replace({ ...made, spec: { disabled: true } }, signal);
      expect(await reasonOf(users().replace({ ...made, spec: {} }, signal))).to.equal('Conflict');
      expect(users().get('u-raced')?.disabled).to.equal(true);
    });

    it('deletes the user with the given uid only, and does not return it any more', async () => {
      const made = await users().create(ada('u-gone'), signal);
      expect(await reasonOf(users().delete('u-gone', 'another-uid', signal))).to.equal('Conflict');
      expect(users().object('u-gone')).to.deep.equal(made);
      expect(await users().delete('u-gone', made.metadata.uid ?? '', signal)).to.equal(true);
      expect([users().get('u-gone'), users().object('u-gone')]).to.deep.equal([undefined, undefined]);
      expect([...users().objects()].map(({ metadata }) => metadata.name)).not.to.include('u-gone');
      expect(await users().delete('u-gone', made.metadata.uid ?? '', signal)).to.equal(false);
      expect(await users().read('u-gone', signal)).to.equal(undefined);
    });

    it('returns no unknown user, also for names that would change a path', async () => {
      expect(users().get('u-nobody')).to.equal(undefined);
      expect(users().object('u-nobody')).to.equal(undefined);
      for (const name of [
        'u-nobody',
        '',
        '.',
        '..',
        '../sessions',
        'a/b',
        'a?b',
        'a%2fb',
        'A',
        'ä',
        'x'.repeat(64),
      ]) {
        expect(await users().read(name, signal), name).to.equal(undefined);
        expect(await users().delete(name, 'a-uid', signal), name).to.equal(false);
      }
    });
  });
}

/** Reason of the error; undefined on success. */
export async function reasonOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.reason;
    throw error;
  }
}
