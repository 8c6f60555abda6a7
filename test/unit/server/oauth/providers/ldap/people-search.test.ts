// Tests of the search for a person with a known id.
import { expect } from 'chai';
import { DirectoryEntry } from '../../../../../../server/oauth/providers/ldap/directory-entry.ts';
import { PeopleSearch } from '../../../../../../server/oauth/providers/ldap/people-search.ts';

describe('PeopleSearch', () => {
  it('finds no entry of another person whose id differs only in its case', async () => {
    const users = {
      base: 'ou=people,dc=example',
      filter: '(objectClass=person)',
      loginAttributes: ['uid'],
      nameAttribute: 'uid',
      idAttribute: 'employeeCode',
      stateAttribute: '',
    };
    const groups = { base: '', filter: '', nameAttribute: 'cn', lookup: 'memberOf' as const };
    const people = new PeopleSearch({ users, groups }, { warn: () => undefined });
    const entry = new DirectoryEntry({ dn: 'uid=ada,ou=people,dc=example', employeeCode: 'aB12' });
    const other = new DirectoryEntry({ dn: 'uid=eve,ou=people,dc=example', employeeCode: 'AB12' });
    const client = { search: () => Promise.resolve([other, entry]) };
    expect(await people.findAgain(client, 'aB12', undefined)).to.equal(entry);
    expect(await people.findAgain(client, 'Ab12', undefined)).to.equal(undefined);
  });
});
