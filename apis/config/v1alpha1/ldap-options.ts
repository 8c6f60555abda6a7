// The TypeBox schema of the configuration section `oauth.identityProviders[].ldap`. Empty options have the value of `schema`.
import { choiceOption, namesOption, pathOption, section, textOption } from './option-types.ts';

const OBJECT = { pattern: '^$|^[A-Za-z][A-Za-z0-9-]*$', expects: 'the name of an attribute' };

const bindPasswordRef = section(
  'Reference to a Secret in the namespace of the server with the password of the service account.',
  {
    name: textOption(
      'ks-apiserver-identity-providers',
      'Name of the Secret. The manifests allow the server to read this one only.',
    ),
    key: textOption('bindPassword', 'Key in this Secret.'),
  },
);

const userSearch = section('How people are found.', {
  base: textOption('', 'DN of the entry below which people are, such as `ou=people,dc=example,dc=com`.'),
  filter: textOption('', 'LDAP filter of people, such as `(objectClass=person)`.'),
  loginAttributes: namesOption('Attributes that a typed user name can equal, such as `uid` and `mail`.'),
  nameAttribute: textOption('', 'Attribute from which the name of a new user is derived.', OBJECT),
  idAttribute: textOption(
    '',
    'Attribute with an ID that never changes and is never reused: not a name, DN or email address.',
    OBJECT,
  ),
});

const groupSearch = section('How the groups of a person are found.', {
  base: textOption('', 'DN of the entry below which groups are. Empty: no groups are read.'),
  filter: textOption('', 'LDAP filter of groups.'),
  lookup: choiceOption(
    ['member', 'memberOf', 'memberUid', 'chain'],
    'member',
    '`member`: groups that list the person in `member` or `uniqueMember`, and the groups that contain them. `memberOf`: the attribute of the person, without nested groups. `memberUid`: POSIX groups. `chain`: nested groups by the rule 1.2.840.113556.1.4.1941 of Active Directory, which is slow in large domains.',
  ),
  nameAttribute: textOption('cn', 'Attribute with the name of a group.', OBJECT),
});

/** Section `ldap` of an identity provider. */
export const ldap = section('The directory, for the type `ldap`.', {
  schema: choiceOption(
    ['openldap', 'activeDirectory'],
    'openldap',
    'Attributes and filters of empty options. `openldap`: also other directories with `uid` and `entryUUID`.',
  ),
  hosts: namesOption(
    'LDAP servers, `host` or `host:port`. The server connects to the next one after a network error. All must have the same entries.',
  ),
  tls: choiceOption(
    ['ldaps', 'startTLS'],
    'ldaps',
    'Encryption. The default port is 636 for `ldaps` and 389 for `startTLS`.',
  ),
  caFile: pathOption('CA certificates of the LDAP servers, PEM. Empty: the CAs of Node.js.'),
  bindDN: textOption('', 'DN of the service account that searches people and groups.'),
  bindPasswordRef,
  userSearch,
  groupSearch,
});
