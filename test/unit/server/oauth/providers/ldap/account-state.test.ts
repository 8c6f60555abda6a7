import { expect } from 'chai';
import {
  bindVerdict,
  isDisabled,
  passwordVersion,
} from '../../../../../../server/oauth/providers/ldap/account-state.ts';
import {
  DirectoryEntry,
  idValue,
  stableID,
} from '../../../../../../server/oauth/providers/ldap/directory-entry.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

function isEntryDisabled(attributes: Record<string, string | string[]>): boolean {
  return isDisabled(new DirectoryEntry({ dn: 'cn=alice', ...attributes }), NOW);
}

describe('isDisabled', () => {
  it('reads the states of Active Directory, OpenLDAP and 389 Directory Server', () => {
    expect(isEntryDisabled({})).to.equal(false);
    expect(
      isEntryDisabled({ userAccountControl: '512', accountExpires: '0', pwdAccountLockedTime: [] }),
    ).to.equal(false);
    expect(isEntryDisabled({ userAccountControl: '514' })).to.equal(true);
    expect(isEntryDisabled({ useraccountcontrol: 'unreadable' })).to.equal(true);
    expect(isEntryDisabled({ accountExpires: '9223372036854775807' })).to.equal(false);
    // A day before and after 2026-01-01, in 100 ns since 1601.
    expect(isEntryDisabled({ accountExpires: '134116128000000000' })).to.equal(true);
    expect(isEntryDisabled({ accountExpires: '134117856000000000' })).to.equal(false);
    expect(isEntryDisabled({ pwdAccountLockedTime: '000001010000Z' })).to.equal(true);
    expect(isEntryDisabled({ nsAccountLock: 'TRUE' })).to.equal(true);
  });

  it('ignores a lock after failed attempts, which anyone can cause', () => {
    expect(isEntryDisabled({ pwdAccountLockedTime: '20251231235900Z' })).to.equal(false);
  });
});

describe('bindVerdict', () => {
  const windows = (subCode: string): string =>
    `80090308: LdapErr: DSID-0C09041C, comment: AcceptSecurityContext error, data ${subCode}, v4563 Code: 0x31`;
  const of = (code: number, message = '', policyError?: number) =>
    bindVerdict({ code, message, policyError });

  it('reads the sub-codes of Active Directory', () => {
    expect(of(49, windows('52e'))).to.equal('wrong_password');
    expect(of(49, windows('525'))).to.equal('wrong_password');
    expect(of(49, windows('775'))).to.equal('wrong_password');
    expect(of(49, windows('533'))).to.equal('disabled');
    expect(of(49, windows('530'))).to.equal('restricted');
    expect(of(49, windows('532'))).to.equal('expired');
    expect(of(49, windows('701'))).to.equal('disabled');
    expect(of(49, windows('773'))).to.equal('must_change');
  });

  it('does not accept a password that must be changed', () => {
    expect(of(0)).to.equal('accepted');
    expect(of(0, '', 2)).to.equal('must_change');
  });

  it('has no verdict for an error of the server', () => {
    for (const code of [1, 8, 13, 51, 52, 80]) expect(of(code)).to.equal(undefined);
    for (const code of [19, 32, 48, 53]) expect(of(code)).to.equal('wrong_password');
  });
});

describe('stableID', () => {
  it('writes objectGUID as Active Directory does, and finds it again', () => {
    const bytes = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
    const entry = new DirectoryEntry({ dn: '', objectGUID: bytes });
    const id = stableID(entry, 'objectGUID') ?? '';
    expect(id).to.equal('33221100-5544-7766-8899-aabbccddeeff');
    expect(idValue(id, 'objectGUID')).to.deep.equal(bytes);
  });

  it('has none for an absent, repeated or unprintable value', () => {
    const id = (value: string | string[] | Buffer) =>
      stableID(new DirectoryEntry({ dn: '', entryUUID: value }), 'entryUUID');
    const uuid = '5F0B9F2C-8F3E-103C-9A41-2B5C6F2D1E00';
    expect(id(uuid)).to.equal(uuid.toLowerCase());
    expect([id('Ab12'), id('aB12')], 'the ids of two people').to.deep.equal(['Ab12', 'aB12']);
    for (const value of [[], ['a', 'b'], '', 'a b', 'a\0', 'ü', 'x'.repeat(256)])
      expect(id(value)).to.equal(undefined);
    expect(stableID(new DirectoryEntry({ dn: '', objectGUID: 'short' }), 'objectGUID')).to.equal(undefined);
  });
});

describe('passwordVersion', () => {
  it('is the time of the last change', () => {
    expect(passwordVersion(new DirectoryEntry({ dn: '', pwdLastSet: '0' }))).to.equal('0');
    expect(passwordVersion(new DirectoryEntry({ dn: '', pwdChangedTime: '20260101000000Z' }))).to.equal(
      '20260101000000Z',
    );
    expect(passwordVersion(new DirectoryEntry({ dn: '' }))).to.equal('');
  });
});
