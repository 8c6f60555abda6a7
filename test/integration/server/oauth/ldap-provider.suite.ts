// Tests the identity provider `ldap` with a directory: OpenLDAP, or one that behaves as Active Directory does.
import { expect } from 'chai';
import { isTooManyRequests, newTooManyRequests } from '../../../../apis/meta/v1/errors.ts';
import { SUFFIX } from '../../../../hack/directory/slapd.ts';
import { freePorts } from '../../../../hack/system/ports.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import { NEVER_ABORTED } from '../../../../server/concurrency/aborted.ts';
import type { LDAPProviderOptions } from '../../../../server/oauth/providers/ldap/ldap-provider.ts';
import type { DirectorySchema } from '../../../../server/oauth/providers/ldap/ldap-settings.ts';
import {
  type AuthenticatedPerson,
  ProviderUnavailable,
} from '../../../../server/oauth/providers/provider.ts';
import { GROUPS, PEOPLE } from '../../../support/directory/directory.ts';
import {
  type ChangeableDirectory,
  type Changes,
  StartedProvider,
} from '../../../support/directory/started-provider.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';

/** `nameAttribute`: of the typed name. Five wrong passwords must lock an account of the directory. */
export function describePeopleOfDirectory(
  startDirectory: (test: Mocha.Context) => Promise<ChangeableDirectory>,
  schema: DirectorySchema,
  nameAttribute: string,
): void {
  let directory: ChangeableDirectory;
  before(async function () {
    directory = await startDirectory(this);
    await directory.person('alice', { mail: 'alice@example.com', displayName: 'Alice Liddell' });
    await directory.person('bob');
  });
  after(() => directory?.[Symbol.asyncDispose]());

  const started = (changes?: Changes, options?: Partial<LDAPProviderOptions>): Promise<StartedProvider> =>
    StartedProvider.start(directory, schema, changes, options);

  it('returns the person of a password', async () => {
    await using company = await started();
    const { person } = await company.signedIn('alice');
    expect(person).to.include({
      issuer: `ldap:///${SUFFIX}`,
      name: 'alice',
      email: 'alice@example.com',
      displayName: 'Alice Liddell',
    });
    expect(person.subject).to.match(/^[0-9a-f-]{36}$/);
    expect(await company.signIn('alice', 'wrong')).to.equal('wrong_password');
    expect(await company.signIn('nobody')).to.equal('unknown_user');
  });

  it('resolves every spelling of a name to one subject, before it verifies the password', async () => {
    await using company = await started();
    const resolved = new Set<string>();
    for (const user of ['bob', 'BOB', ' bob  ', 'ｂｏｂ']) {
      const attempt = {
        user,
        password: 'wrong',
        resolved: async ({ subject }: { subject: string }) => {
          resolved.add(subject);
        },
      };
      expect(await company.provider.signIn({ ...attempt, signal: NEVER_ABORTED }), user).to.equal(
        'wrong_password',
      );
    }
    expect(resolved.size).to.equal(1);
    const stop = (): never => {
      throw newTooManyRequests('too many failed attempts', 1);
    };
    const attempt = { user: 'alice', password: 'alice-password', resolved: stop, signal: NEVER_ABORTED };
    expect(isTooManyRequests(await rejection(company.provider.signIn(attempt)))).to.equal(true);
  });

  it('sends neither an empty password nor a NUL to the directory', async () => {
    await using company = await started();
    for (const password of ['', '\0', 'alice-password\0']) {
      expect(await company.signIn('alice', password)).to.equal('wrong_password');
    }
    for (const user of ['', 'alice\0', 'x'.repeat(300)])
      expect(await company.signIn(user, 'x')).to.equal('unknown_user');
  });

  it('treats a name as text, never as a filter, a DN or a mechanism', async () => {
    await using company = await started();
    const names = [
      '*',
      'al*',
      'alice)(uid=*',
      '*)(|(uid=*',
      String.raw`\2a`,
      PEOPLE,
      'EXTERNAL',
      'PLAIN',
      'alice,ou=people',
      '("',
      'ü\u{1f600}',
    ];
    for (const name of names)
      expect(await company.signIn(name, 'alice-password'), name).to.equal('unknown_user');
    for (const name of ['(o)*\\', 'a,b+c', 'snow man', 'ümlaut', '#hash']) {
      await directory.person(name);
      expect((await company.signedIn(name)).person.name, name).to.equal(name);
    }
  });

  it('signs in nobody if a name belongs to several people', async () => {
    await directory.person('twin-1', { mail: 'twin@example.com' });
    await directory.person('twin-2', { mail: 'twin@example.com' });
    await using company = await started({ users: { loginAttributes: [nameAttribute, 'mail'] } });
    expect(await company.signIn('twin@example.com', 'twin-1-password')).to.equal('unknown_user');
    expect((await company.signedIn('alice@example.com', 'alice-password')).person.name).to.equal('alice');
  });

  describe('groups', () => {
    before(async () => {
      const alice = `cn=alice,${PEOPLE}`;
      await directory.group('developers', [alice]);
      await directory.group('staff', [`cn=developers,${GROUPS}`]);
      await directory.group('everyone', [`cn=staff,${GROUPS}`]);
      await directory.group('others', [`cn=bob,${PEOPLE}`]);
      await directory.replace(`cn=developers,${GROUPS}`, 'member', alice, `cn=everyone,${GROUPS}`);
      await directory.group('secret', [alice], SUFFIX);
    });

    const lookups = {
      member: ['developers', 'everyone', 'staff'],
      memberOf: ['developers'],
    } as const;
    for (const [lookup, expected] of Object.entries(lookups)) {
      it(`are found by ${lookup}, below the base only`, async () => {
        await using company = await started({ groups: { lookup: lookup as keyof typeof lookups } });
        const { person } = await company.signedIn('alice');
        expect(person.groups.toSorted()).to.deep.equal(expected);
      });
    }

    it('are not read without a base', async () => {
      await using company = await started({ groups: { base: '' } });
      expect((await company.signedIn('alice')).person.groups).to.deep.equal([]);
    });
  });

  describe('revalidate', () => {
    it('returns the current groups, also after the entry was moved', async () => {
      await directory.person('mover');
      await using company = await started();
      const before = await company.signedIn('mover');
      await directory.rename(`cn=mover,${PEOPLE}`, `cn=moved,${PEOPLE}`);
      await directory.group('movers', [`cn=moved,${PEOPLE}`]);
      const after = await company.revalidate(before);
      if (typeof after === 'string') throw new Error(after);
      expect(after.person.subject).to.equal(before.person.subject);
      expect(after.person.groups).to.deep.equal(['movers']);
    });

    it('reports a person who was deleted, disabled, or has another password', async () => {
      await using company = await started();
      const people = new Map<string, AuthenticatedPerson>();
      for (const name of ['leaver', 'locked', 'changer', 'guessed']) {
        await directory.person(name);
        people.set(name, await company.signedIn(name));
      }
      const state = (name: string) => company.stateOf(people.get(name) ?? expect.fail());
      await directory.remove(`cn=leaver,${PEOPLE}`);
      // Another person with the same name.
      await directory.person('leaver');
      await directory.disable(`cn=locked,${PEOPLE}`);
      await directory.setPassword(`cn=changer,${PEOPLE}`, 'another');
      for (let guess = 0; guess < 6; guess++) await company.signIn('guessed', 'wrong');
      expect(await state('leaver')).to.equal('gone');
      expect(await state('locked')).to.equal('disabled');
      expect(await state('changer')).to.equal('password changed');
      // Nobody can sign out another person by guessing.
      expect(await company.signIn('guessed')).to.equal('wrong_password');
      expect(await state('guessed')).to.equal('valid');
    });

    it('reports a person who is not below the base of people any more', async () => {
      await directory.person('outsider');
      await using company = await started();
      const outsider = await company.signedIn('outsider');
      await using narrowed = await started({ users: { base: `cn=alice,${PEOPLE}` } });
      expect(await narrowed.stateOf(outsider)).to.equal('gone');
      expect(await narrowed.stateOf(await company.signedIn('alice'))).to.equal('valid');
    });

    it('does not take an empty or refused response for a deleted person', async () => {
      await using company = await started();
      const alice = await company.signedIn('alice');
      await using filtered = await started({ users: { filter: '(objectClass=device)' } });
      expect(filtered.provider.problem?.reason).to.contain('shows no people below');
      expect(await rejection(filtered.revalidate(alice))).to.be.instanceOf(ProviderUnavailable);
    });
  });

  it('requires a new password after a reset by an administrator', async () => {
    await directory.person('newcomer');
    await directory.requireNewPassword(`cn=newcomer,${PEOPLE}`);
    await using company = await started();
    expect(await company.signIn('newcomer', 'wrong')).to.equal('wrong_password');
    expect(await company.signIn('newcomer')).to.equal('must_change');
  });

  describe('connections', () => {
    it('use StartTLS', async () => {
      await using company = await started({
        tls: 'startTLS',
        hosts: [`localhost:${directory.ldapPort}`],
      });
      expect((await company.signedIn('alice')).person.name).to.equal('alice');
      await using byAddress = await started({
        tls: 'startTLS',
        hosts: [`127.0.0.1:${directory.ldapPort}`],
      });
      expect((await byAddress.signedIn('alice')).person.name).to.equal('alice');
    });

    it('require a certificate of the CA, for the host', async () => {
      const ldaps = [`localhost:${directory.ldapsPort}`];
      const plain = [`localhost:${directory.ldapPort}`];
      // The certificate has no name for another address of the loopback network.
      const other = [`127.0.0.2:${directory.ldapsPort}`];
      for (const [changes, options] of [
        [{ hosts: ldaps }, { ca: async () => undefined }],
        [{ hosts: plain, tls: 'startTLS' }, { ca: async () => undefined }],
        [{ hosts: plain }, {}],
        [{ hosts: other }, {}],
      ] as const) {
        await using company = await started(changes, options);
        expect(company.provider.problem?.reason).to.be.a('string');
        expect(company.provider.problem?.notice).to.equal('Company account cannot be reached at the moment.');
        expect(await rejection(company.signIn('alice'))).to.be.instanceOf(ProviderUnavailable);
      }
    });

    it('go to the next host after a network error, and stay there', async () => {
      const [closed = 0] = await freePorts(1);
      const hosts = [`localhost:${closed}`, `localhost:${directory.ldapsPort}`];
      await using company = await started({ hosts });
      expect((await company.signedIn('alice')).person.name).to.equal('alice');
      const wrong = await started({ hosts }, { bindPassword: () => 'wrong' });
      await using _wrong = wrong;
      expect(wrong.provider.problem?.reason).to.contain('rejects the service account');
    });

    it('are unavailable while others take all of them, which ends no session', async () => {
      const seats = new Admission().pool('directory', { capacity: 1, sharing: 'queue', waiting: 0 });
      await using company = await started({}, { seats });
      const alice = await company.signedIn('alice');
      {
        using _seat = await seats.take('another caller', { signal: NEVER_ABORTED });
        for (const attempt of [() => company.signIn('alice'), () => company.revalidate(alice)]) {
          expect(await rejection(attempt())).to.be.instanceOf(ProviderUnavailable);
        }
      }
      expect(await company.stateOf(alice)).to.equal('valid');
    });

    it('end within the deadline if the directory hangs, and recover', async () => {
      const timing = { connectMs: 2_000, deadlineMs: 3_000, checkMs: 50, retryMs: 50 };
      await using company = await started({}, { timing });
      await directory.pause();
      try {
        await until(() => company.provider.problem !== undefined);
        expect(await rejection(company.signIn('alice'))).to.be.instanceOf(ProviderUnavailable);
      } finally {
        directory.resume();
      }
      await until(() => company.provider.problem === undefined);
      expect((await company.signedIn('alice')).person.name).to.equal('alice');
    });
  });
}
