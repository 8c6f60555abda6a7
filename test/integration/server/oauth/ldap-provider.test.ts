// Tests the identity provider `ldap` with OpenLDAP.
import { expect } from 'chai';
import pino from 'pino';
import { isTooManyRequests, newTooManyRequests } from '../../../../apis/meta/v1/errors.ts';
import { SUFFIX } from '../../../../hack/directory/slapd.ts';
import { freePorts } from '../../../../hack/system/ports.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import {
  LDAP_TIMING,
  LDAPProvider,
  type LDAPProviderOptions,
} from '../../../../server/oauth/providers/ldap/ldap-provider.ts';
import { type LDAPSettings, SCHEMAS } from '../../../../server/oauth/providers/ldap/ldap-settings.ts';
import {
  type AuthenticatedPerson,
  type PasswordRejection,
  ProviderUnavailable,
} from '../../../../server/oauth/providers/provider.ts';
import {
  GROUPS,
  PEOPLE,
  READER,
  requireDirectory,
  TestDirectory,
} from '../../../support/directory/directory.ts';
import { rejection } from '../../../support/rejection.ts';
import { running } from '../../../support/running.ts';
import { until } from '../../../support/until.ts';

const NEVER = new AbortController().signal;

describe('LDAPProvider', () => {
  let directory: TestDirectory;
  before(async function () {
    await requireDirectory(this);
    directory = await TestDirectory.start();
    await directory.person('alice', { mail: 'alice@example.com', displayName: 'Alice Liddell' });
    await directory.person('bob');
  });
  after(() => directory?.[Symbol.asyncDispose]());

  const settings = (changes: Partial<LDAPSettings> = {}): LDAPSettings => ({
    hosts: [`localhost:${directory.slapd.ldapsPort}`],
    tls: 'ldaps',
    caFile: '',
    bindDN: READER.dn,
    bindPasswordRef: { name: 'directory', key: 'password' },
    users: { ...SCHEMAS.openldap, base: PEOPLE },
    groups: { base: GROUPS, filter: SCHEMAS.openldap.groupFilter, lookup: 'member', nameAttribute: 'cn' },
    ...changes,
  });

  /** A provider that has checked the directory. */
  async function started(changes: Partial<LDAPSettings> = {}, options: Partial<LDAPProviderOptions> = {}) {
    const provider = new LDAPProvider({
      name: 'company',
      displayName: 'Company account',
      settings: settings(changes),
      bindPassword: () => READER.password,
      ca: async () => directory.ca,
      seats: new Admission().pool('directory', { capacity: 8, sharing: 'queue' }),
      log: pino({ enabled: false }),
      now: Date.now,
      timing: { ...LDAP_TIMING, retryMs: 50 },
      ...options,
    });
    const loop = running((signal) => provider.run(signal));
    await until(() => provider.problem?.reason !== 'not checked yet');
    return { provider, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
  }

  function signIn(provider: LDAPProvider, user: string, password = `${user}-password`) {
    return provider.signIn({ user, password, resolved: () => undefined, signal: NEVER });
  }

  function accepted(result: AuthenticatedPerson | PasswordRejection): AuthenticatedPerson {
    if (typeof result === 'string') throw new Error(`rejected: ${result}`);
    return result;
  }

  it('returns the person of a password', async () => {
    await using running = await started();
    const { person } = accepted(await signIn(running.provider, 'alice'));
    expect(person).to.include({
      issuer: `ldap:///${SUFFIX}`,
      name: 'alice',
      email: 'alice@example.com',
      displayName: 'Alice Liddell',
    });
    expect(person.subject).to.match(/^[0-9a-f-]{36}$/);
    expect(await signIn(running.provider, 'alice', 'wrong')).to.equal('wrong_password');
    expect(await signIn(running.provider, 'nobody')).to.equal('unknown_user');
  });

  it('resolves every spelling of a name to one subject, before it verifies the password', async () => {
    await using running = await started();
    const resolved = new Set<string>();
    for (const user of ['bob', 'BOB', ' bob  ', 'ｂｏｂ']) {
      const attempt = {
        user,
        password: 'wrong',
        resolved: ({ subject }: { subject: string }) => resolved.add(subject),
      };
      expect(await running.provider.signIn({ ...attempt, signal: NEVER }), user).to.equal('wrong_password');
    }
    expect(resolved.size).to.equal(1);
    const stop = (): never => {
      throw newTooManyRequests('too many failed attempts', 1);
    };
    const attempt = { user: 'alice', password: 'alice-password', resolved: stop, signal: NEVER };
    expect(isTooManyRequests(await rejection(running.provider.signIn(attempt)))).to.equal(true);
  });

  it('sends neither an empty password nor a NUL to the directory', async () => {
    await using running = await started();
    for (const password of ['', '\0', 'alice-password\0']) {
      expect(await signIn(running.provider, 'alice', password)).to.equal('wrong_password');
    }
    for (const user of ['', 'alice\0', 'x'.repeat(300)])
      expect(await signIn(running.provider, user, 'x')).to.equal('unknown_user');
  });

  it('treats a name as text, never as a filter, a DN or a mechanism', async () => {
    await using running = await started();
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
      expect(await signIn(running.provider, name, 'alice-password'), name).to.equal('unknown_user');
    for (const name of ['(o)*\\', 'a,b+c', 'snow man', 'ümlaut', '#hash']) {
      await directory.person(name);
      expect(accepted(await signIn(running.provider, name)).person.name, name).to.equal(name);
    }
  });

  it('signs in nobody if a name belongs to several people', async () => {
    await directory.person('twin-1', { mail: 'twin@example.com' });
    await directory.person('twin-2', { mail: 'twin@example.com' });
    const users = { ...settings().users, loginAttributes: ['uid', 'mail'] };
    await using running = await started({ users });
    expect(await signIn(running.provider, 'twin@example.com', 'twin-1-password')).to.equal('unknown_user');
    expect(
      accepted(await signIn(running.provider, 'alice@example.com', 'alice-password')).person.name,
    ).to.equal('alice');
  });

  describe('groups', () => {
    before(async () => {
      const alice = `cn=alice,${PEOPLE}`;
      await directory.group('developers', [alice]);
      await directory.group('staff', [`cn=developers,${GROUPS}`]);
      await directory.group('everyone', [`cn=staff,${GROUPS}`]);
      await directory.group('others', [`cn=bob,${PEOPLE}`]);
      await directory.replace(`cn=developers,${GROUPS}`, 'member', alice, `cn=everyone,${GROUPS}`);
      await directory.add(`cn=unix,${GROUPS}`, {
        objectClass: ['posixGroup'],
        cn: 'unix',
        gidNumber: '100',
        memberUid: 'alice',
      });
      await directory.add(`ou=elsewhere,${SUFFIX}`, { objectClass: ['organizationalUnit'], ou: 'elsewhere' });
      await directory.add(`cn=secret,ou=elsewhere,${SUFFIX}`, {
        objectClass: ['groupOfNames'],
        cn: 'secret',
        member: alice,
      });
    });

    const lookups = {
      member: ['developers', 'everyone', 'staff'],
      memberOf: ['developers'],
      memberUid: ['unix'],
    } as const;
    for (const [lookup, expected] of Object.entries(lookups)) {
      it(`are found by ${lookup}, below the base only`, async () => {
        const groups = { ...settings().groups, lookup: lookup as keyof typeof lookups };
        await using running = await started({ groups });
        const { person } = accepted(await signIn(running.provider, 'alice'));
        expect(person.groups.toSorted()).to.deep.equal(expected);
      });
    }

    it('are not read without a base', async () => {
      await using running = await started({ groups: { ...settings().groups, base: '' } });
      expect(accepted(await signIn(running.provider, 'alice')).person.groups).to.deep.equal([]);
    });
  });

  describe('revalidate', () => {
    const revalidate = async (provider: LDAPProvider, { person, upstream }: AuthenticatedPerson) =>
      provider.revalidate({ issuer: person.issuer, subject: person.subject, upstream }, { signal: NEVER });

    it('returns the current groups, also after the entry was moved', async () => {
      await directory.person('mover');
      await using running = await started();
      const before = accepted(await signIn(running.provider, 'mover'));
      await directory.rename(`cn=mover,${PEOPLE}`, `cn=moved,${PEOPLE}`);
      await directory.group('movers', [`cn=moved,${PEOPLE}`]);
      const after = await revalidate(running.provider, before);
      if (typeof after === 'string') throw new Error(after);
      expect(after.person.subject).to.equal(before.person.subject);
      expect(after.person.groups).to.deep.equal(['movers']);
    });

    it('reports a person who was deleted, disabled, or has another password', async () => {
      await using running = await started();
      const people = new Map<string, AuthenticatedPerson>();
      for (const name of ['leaver', 'locked', 'changer', 'guessed']) {
        await directory.person(name);
        people.set(name, accepted(await signIn(running.provider, name)));
      }
      const state = async (name: string) => {
        const result = await revalidate(running.provider, people.get(name) as AuthenticatedPerson);
        return typeof result === 'string' ? result : 'valid';
      };
      await directory.remove(`cn=leaver,${PEOPLE}`);
      // Another person with the same name.
      await directory.person('leaver');
      await directory.replace(`cn=locked,${PEOPLE}`, 'pwdAccountLockedTime', '000001010000Z');
      await directory.replace(`cn=changer,${PEOPLE}`, 'userPassword', 'another');
      for (let guess = 0; guess < 6; guess++) await signIn(running.provider, 'guessed', 'wrong');
      expect(await state('leaver')).to.equal('gone');
      expect(await state('locked')).to.equal('disabled');
      expect(await state('changer')).to.equal('password changed');
      // Nobody can sign out another person by guessing.
      expect(await signIn(running.provider, 'guessed')).to.equal('wrong_password');
      expect(await state('guessed')).to.equal('valid');
    });

    it('does not take an empty or refused response for a deleted person', async () => {
      await using running = await started();
      const alice = accepted(await signIn(running.provider, 'alice'));
      const blind = { ...settings().users, filter: '(objectClass=device)' };
      await using filtered = await started({ users: blind });
      const { provider } = filtered;
      expect(provider.problem?.reason).to.contain('shows no people below');
      expect(await rejection(revalidate(provider, alice))).to.be.instanceOf(ProviderUnavailable);
    });
  });

  it('requires a new password after a reset by an administrator', async () => {
    await directory.person('newcomer');
    await directory.replace(`cn=newcomer,${PEOPLE}`, 'pwdReset', 'TRUE');
    await using running = await started();
    expect(await signIn(running.provider, 'newcomer', 'wrong')).to.equal('wrong_password');
    expect(await signIn(running.provider, 'newcomer')).to.equal('must_change');
  });

  describe('connections', () => {
    it('use StartTLS', async () => {
      await using running = await started({
        tls: 'startTLS',
        hosts: [`localhost:${directory.slapd.ldapPort}`],
      });
      expect(accepted(await signIn(running.provider, 'alice')).person.name).to.equal('alice');
      await using byAddress = await started({
        tls: 'startTLS',
        hosts: [`127.0.0.1:${directory.slapd.ldapPort}`],
      });
      expect(accepted(await signIn(byAddress.provider, 'alice')).person.name).to.equal('alice');
    });

    it('require a certificate of the CA, for the host', async () => {
      const ldaps = [`localhost:${directory.slapd.ldapsPort}`];
      const plain = [`localhost:${directory.slapd.ldapPort}`];
      // The certificate has no name for another address of the loopback network.
      const other = [`127.0.0.2:${directory.slapd.ldapsPort}`];
      for (const [changes, options] of [
        [{ hosts: ldaps }, { ca: async () => undefined }],
        [{ hosts: plain, tls: 'startTLS' }, { ca: async () => undefined }],
        [{ hosts: plain }, {}],
        [{ hosts: other }, {}],
      ] as const) {
        await using running = await started(changes, options);
        expect(running.provider.problem?.reason).to.be.a('string');
        expect(running.provider.problem?.notice).to.equal('Company account cannot be reached at the moment.');
        expect(await rejection(signIn(running.provider, 'alice'))).to.be.instanceOf(ProviderUnavailable);
      }
    });

    it('go to the next host after a network error, and stay there', async () => {
      const [closed = 0] = await freePorts(1);
      const hosts = [`localhost:${closed}`, `localhost:${directory.slapd.ldapsPort}`];
      await using running = await started({ hosts });
      expect(accepted(await signIn(running.provider, 'alice')).person.name).to.equal('alice');
      const wrong = await started({ hosts }, { bindPassword: () => 'wrong' });
      await using _wrong = wrong;
      expect(wrong.provider.problem?.reason).to.contain('rejects the service account');
    });

    it('end within the deadline if the directory hangs, and recover', async () => {
      const timing = { connectMs: 300, deadlineMs: 500, checkMs: 50, retryMs: 50 };
      await using running = await started({}, { timing });
      await directory.slapd.pause();
      try {
        await until(() => running.provider.problem !== undefined);
        expect(await rejection(signIn(running.provider, 'alice'))).to.be.instanceOf(ProviderUnavailable);
      } finally {
        directory.slapd.resume();
      }
      await until(() => running.provider.problem === undefined);
      expect(accepted(await signIn(running.provider, 'alice')).person.name).to.equal('alice');
    });
  });

  describe('with the attributes of Active Directory', () => {
    let windows: TestDirectory;
    before(async () => {
      windows = await TestDirectory.start({ schema: 'windows' });
      await windows.add(`cn=Ann,${PEOPLE}`, {
        objectClass: ['user', 'extensibleObject'],
        ...{ cn: 'Ann', sn: 'Ann', instanceType: '4', objectCategory: PEOPLE, nTSecurityDescriptor: 'x' },
        ...{ sAMAccountName: 'ann', sAMAccountType: '805306368', userAccountControl: '512', pwdLastSet: '1' },
        // Valid UTF-8, which a client could take for text.
        objectGUID: Buffer.from('00112233445566770011223344556677', 'hex'),
        memberOf: [`CN=Dev\\, Ops,${GROUPS}`, `cn=elsewhere,${SUFFIX}`],
        userPassword: 'ann-password',
      });
    });
    after(() => windows?.[Symbol.asyncDispose]());

    const provided = () =>
      started(
        {
          hosts: [`localhost:${windows.slapd.ldapsPort}`],
          // OpenLDAP knows these attributes, but has no rules to compare them.
          users: {
            ...SCHEMAS.activeDirectory,
            base: PEOPLE,
            filter: '(objectClass=user)',
            loginAttributes: ['cn'],
          },
          groups: { ...settings().groups, lookup: 'memberOf' },
        },
        { ca: async () => windows.ca },
      );
    const state = async (provider: LDAPProvider, { person, upstream }: AuthenticatedPerson) => {
      const { issuer, subject } = person;
      const result = await provider.revalidate({ issuer, subject, upstream }, { signal: NEVER });
      return typeof result === 'string' ? result : 'valid';
    };

    it('finds people by objectGUID, and their groups by DNs', async () => {
      await using running = await provided();
      const ann = accepted(await signIn(running.provider, 'ANN', 'ann-password'));
      expect(ann.person).to.include({ subject: '33221100-5544-7766-0011-223344556677', name: 'ann' });
      expect(ann.person.groups).to.deep.equal(['Dev, Ops']);
      expect(await state(running.provider, ann)).to.equal('valid');
    });

    it('rejects disabled and expired accounts, and notices a new password', async () => {
      await using running = await provided();
      const dn = `cn=Ann,${PEOPLE}`;
      const ann = accepted(await signIn(running.provider, 'ann'));
      for (const [attribute, value, before] of [
        ['userAccountControl', '514', '512'],
        ['accountExpires', '1', '0'],
      ] as const) {
        await windows.replace(dn, attribute, value);
        expect(await state(running.provider, ann)).to.equal('disabled');
        expect(await signIn(running.provider, 'ann')).to.equal('disabled');
        expect(await signIn(running.provider, 'ann', 'wrong')).to.equal('wrong_password');
        await windows.replace(dn, attribute, before);
      }
      await windows.replace(dn, 'pwdLastSet', '0');
      expect(await state(running.provider, ann)).to.equal('password changed');
    });
  });
});
