// Tests the identity provider `ldap` with OpenLDAP.
import { expect } from 'chai';
import { SUFFIX } from '../../../../hack/directory/slapd.ts';
import { GROUPS, PEOPLE, requireDirectory, TestDirectory } from '../../../support/directory/directory.ts';
import { StartedProvider } from '../../../support/directory/started-provider.ts';
import { describePeopleOfDirectory } from './ldap-provider.suite.ts';

describe('LDAPProvider with OpenLDAP', () => {
  let directory: TestDirectory;
  describePeopleOfDirectory(
    async (test) => {
      await requireDirectory(test);
      directory = await TestDirectory.start();
      return directory;
    },
    'openldap',
    'uid',
  );

  it('finds POSIX groups by memberUid', async () => {
    await directory.add(`cn=unix,${GROUPS}`, {
      objectClass: ['posixGroup'],
      cn: 'unix',
      gidNumber: '100',
      memberUid: 'alice',
    });
    await using company = await StartedProvider.start(directory, 'openldap', {
      groups: { lookup: 'memberUid' },
    });
    expect((await company.signedIn('alice')).person.groups).to.deep.equal(['unix']);
  });

  it('tells a person whose password has expired, after the right password only', async () => {
    await directory.person('late');
    await directory.backdatePassword(`cn=late,${PEOPLE}`);
    await directory.replace(`cn=policy,${SUFFIX}`, 'pwdMaxAge', '86400');
    try {
      await using company = await StartedProvider.start(directory, 'openldap');
      expect(await company.signIn('late', 'wrong')).to.equal('wrong_password');
      expect(await company.signIn('late')).to.equal('expired');
    } finally {
      await directory.replace(`cn=policy,${SUFFIX}`, 'pwdMaxAge', '0');
    }
  });
});
