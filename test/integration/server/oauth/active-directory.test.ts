// Tests the identity provider `ldap` with the settings of Active Directory, at a directory that behaves as Active Directory does.
import { expect } from 'chai';
import { Client } from 'ldapts';
import { SUFFIX } from '../../../../hack/directory/slapd.ts';
import { ProviderUnavailable } from '../../../../server/oauth/providers/provider.ts';
import { ActiveDirectory } from '../../../support/directory/active-directory.ts';
import { PEOPLE, READER } from '../../../support/directory/directory.ts';
import { windowsTime } from '../../../support/directory/directory-object.ts';
import { type Changes, StartedProvider } from '../../../support/directory/started-provider.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';
import { describePeopleOfDirectory } from './ldap-provider.suite.ts';

const dnOf = (name: string): string => `cn=${name},${PEOPLE}`;

describe('LDAPProvider with Active Directory', () => {
  let directory: ActiveDirectory;
  describePeopleOfDirectory(
    async () => {
      directory = await ActiveDirectory.start();
      directory.lockoutThreshold = 5;
      return directory;
    },
    'activeDirectory',
    'sAMAccountName',
  );
  const started = (changes?: Changes): Promise<StartedProvider> =>
    StartedProvider.start(directory, 'activeDirectory', changes);

  describe('and its own rules', () => {
    it('signs people in by both names', async () => {
      await using company = await started();
      const byPrincipal = await company.signedIn('Alice@EXAMPLE.com', 'alice-password');
      expect(byPrincipal.person.subject).to.equal((await company.signedIn('alice')).person.subject);
      expect(byPrincipal.person.name).to.equal('alice');
    });

    it('does not tell the directory the password of a person whom it does not know', async () => {
      await using company = await started();
      for (const [name, password] of [
        ['stranger', 'password of another directory'],
        ['alice', 'wrong'],
      ] as const) {
        const before = directory.passwords.length;
        expect(await company.signIn(name, password)).to.be.a('string');
        const sent = directory.passwords.slice(before).filter((each) => each !== READER.password);
        expect(sent, name).to.have.length(1);
        expect(sent.includes(password), name).to.equal(name === 'alice');
      }
    });

    it('finds people by an objectGUID that is text by chance', async () => {
      await directory.person('texty', { objectGUID: Buffer.from('00112233445566770011223344556677', 'hex') });
      await using company = await started();
      const texty = await company.signedIn('texty');
      expect(texty.person.subject).to.equal('33221100-5544-7766-0011-223344556677');
      await directory.rename(dnOf('texty'), dnOf('renamed'));
      expect(await company.stateOf(texty)).to.equal('valid');
    });

    it('says why an account cannot be used, after the right password only', async () => {
      await using company = await started();
      const cases = {
        disabled: [(dn) => directory.disable(dn), 'disabled'],
        late: [(dn) => directory.replace(dn, 'accountExpires', windowsTime(0)), 'disabled'],
        nightly: [async (dn) => directory.restrictSignIn(dn, '530'), 'restricted'],
        remote: [async (dn) => directory.restrictSignIn(dn, '531'), 'restricted'],
        old: [async (dn) => directory.expirePassword(dn), 'expired'],
        fresh: [(dn) => directory.requireNewPassword(dn), 'must_change'],
      } satisfies Record<string, [(dn: string) => Promise<void>, string]>;
      for (const [name, [change, outcome]] of Object.entries(cases)) {
        await directory.person(name);
        await change(dnOf(name));
        expect(await company.signIn(name, 'wrong'), name).to.equal('wrong_password');
        expect(await company.signIn(name), name).to.equal(outcome);
      }
    });

    it('ends sessions of an expired account, but not because of a lock or the age of the password', async () => {
      await using company = await started();
      for (const name of ['contractor', 'sleeper', 'target']) await directory.person(name);
      const [contractor, sleeper, target] = await Promise.all(
        ['contractor', 'sleeper', 'target'].map((name) => company.signedIn(name)),
      );
      await directory.replace(dnOf('contractor'), 'accountExpires', windowsTime(Date.now()));
      directory.expirePassword(dnOf('sleeper'));
      for (let guess = 0; guess < 5; guess++) await company.signIn('target', 'wrong');
      expect(directory.isLocked(dnOf('target'))).to.equal(true);
      expect(await company.signIn('target')).to.equal('wrong_password');
      const states = await Promise.all(
        [contractor, sleeper, target].map((person) => company.stateOf(person ?? expect.fail())),
      );
      expect(states).to.deep.equal(['disabled', 'valid', 'valid']);
    });

    it('reads all groups of a person with thousands of them, in ranges and in pages', async () => {
      await directory.person('joiner');
      for (let index = 0; index < 3_100; index++) await directory.group(`team-${index}`, [dnOf('joiner')]);
      for (const lookup of ['memberOf', 'chain'] as const) {
        await using company = await started({ groups: { lookup } });
        const { person } = await company.signedIn('joiner');
        expect(new Set(person.groups).size, lookup).to.equal(3_100);
      }
    });

    it('finds nested groups by the chain rule, and not the primary group', async () => {
      await using company = await started({ groups: { lookup: 'chain' } });
      const { person } = await company.signedIn('alice');
      expect(person.groups.toSorted()).to.deep.equal(['developers', 'everyone', 'staff']);
    });

    it('ignores references to other servers in a search of the whole domain', async () => {
      await using company = await started({ users: { base: SUFFIX }, groups: { base: SUFFIX } });
      expect((await company.signedIn('alice')).person.groups).to.include.members(['developers', 'secret']);
    });

    it('names a base that the domain does not have', async () => {
      const missing = 'ou=none,dc=example,dc=com';
      for (const [changes, base] of [
        [{ users: { base: 'dc=other,dc=com' } }, 'dc=other,dc=com'],
        [{ users: { base: missing } }, missing],
        [{ groups: { base: missing } }, missing],
      ] as const) {
        await using company = await started(changes);
        expect(company.provider.problem?.reason).to.contain(`the directory has no entry ${base}`);
      }
    });

    it('does not take an account for enabled whose state the service account cannot read', async () => {
      await using company = await started();
      const alice = await company.signedIn('alice');
      directory.hidden.add('useraccountcontrol');
      try {
        await using blind = await started();
        expect(blind.provider.problem?.reason).to.contain('no readable userAccountControl');
        expect(await rejection(company.revalidate(alice))).to.be.instanceOf(ProviderUnavailable);
        expect(await rejection(company.signIn('alice'))).to.be.instanceOf(ProviderUnavailable);
      } finally {
        directory.hidden.clear();
      }
    });

    it('never binds without TLS, which a domain controller would refuse', async () => {
      const client = new Client({ url: `ldap://127.0.0.1:${directory.ldapPort}` });
      expect(await rejection(client.bind(READER.dn, READER.password))).to.have.property('code', 8);
      await client.unbind();
      await using company = await started({ hosts: [`localhost:${directory.ldapPort}`], tls: 'startTLS' });
      expect((await company.signedIn('alice')).person.name).to.equal('alice');
    });

    it('survives a server that ends all connections with a notice', async () => {
      await using company = await started();
      await directory.pause();
      const attempts = ['alice', 'bob'].map((name) => rejection(company.signIn(name)));
      await until(() => directory.server.connections === 2);
      directory.server.disconnect();
      for (const error of await Promise.all(attempts)) expect(error).to.be.instanceOf(ProviderUnavailable);
      directory.resume();
      await until(() => company.provider.problem === undefined);
      expect((await company.signedIn('alice')).person.name).to.equal('alice');
    });
  });
});
