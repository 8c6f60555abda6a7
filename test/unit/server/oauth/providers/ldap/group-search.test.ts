// Tests of the names of groups in the DNs of a hostile directory.
import { expect } from 'chai';
import { DirectoryEntry } from '../../../../../../server/oauth/providers/ldap/directory-entry.ts';
import { groupsOf } from '../../../../../../server/oauth/providers/ldap/group-search.ts';

describe('groupsOf', () => {
  const settings = {
    users: {
      base: '',
      filter: '',
      loginAttributes: [],
      nameAttribute: '',
      idAttribute: '',
      stateAttribute: '',
    },
    groups: { base: 'ou=groups,dc=example', filter: '', nameAttribute: 'cn', lookup: 'memberOf' as const },
  };
  const namesIn = (memberOf: string[]): Promise<readonly string[]> =>
    groupsOf(new DirectoryEntry({ dn: 'cn=ada', memberOf }), settings, {
      search: () => Promise.reject(new Error('all values are known')),
    });

  it('reads DNs with blanks beside their separators', async () => {
    const dns = [
      'CN=dev , OU=groups,  DC =example',
      'cn=ops,ou=groups,dc=example',
      'cn=a,ou=other,dc=example',
    ];
    expect(await namesIn(dns)).to.deep.equal(['dev', 'ops']);
  });

  it('passes no group of a folder whose name ends like the base', async () => {
    const dns = [
      'cn=admins,ou=x\\,ou=groups,dc=example',
      'cn=admins\\,ou=groups,dc=example',
      'cn=admins,ou="x,ou=groups",dc=example',
      'ou=groups,dc=example',
      'cn=a\\,b,ou=teams\\\\,ou=groups,dc=example',
    ];
    expect(await namesIn(dns)).to.deep.equal(['a,b']);
  });

  it('reads DNs with many blanks in linear time', async () => {
    const blanks = ' '.repeat(1_000_000);
    expect(await namesIn([blanks, `cn=a${blanks}`, `cn=a${blanks},ou=groups,dc=example`])).to.have.length(1);
  });
});
