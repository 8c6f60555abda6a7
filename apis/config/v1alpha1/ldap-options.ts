// The JSON Schema of the configuration section `oauth.identityProviders[].ldap`. Empty options have the value of `schema`.
import { choiceOption, namesOption, pathOption, section, textOption } from './option-types.ts';

const OBJECT = { pattern: '^$|^[A-Za-z][A-Za-z0-9-]*$', expects: 'the name of an attribute' };

const bindPasswordRef = section(
  'Reference to a Secret in the namespace of the server with the password of the service account.',
  {
    name: textOption('ks-apiserver-identity-providers', 'Name of the Secret.'),
    key: textOption('bindPassword', 'Key in this Secret.'),
  },
);

const userSearch = section('How people are found.', {
  base: textOption('', 'DN below which people are, such as `ou=people,dc=example,dc=com`.'),
  filter: textOption('', 'LDAP filter of people, such as `(objectClass=person)`.'),
  loginAttributes: namesOption('Attributes with user names, such as `uid` and `mail`.'),
  nameAttribute: textOption('', 'Attribute with the name of a new user.', OBJECT),
  idAttribute: textOption('', 'Attribute with an ID that never changes and is never reused.', OBJECT),
});

const groupSearch = section('How the groups of a person are found.', {
  base: textOption('', 'DN below which groups are. Empty: no groups.'),
  filter: textOption('', 'LDAP filter of groups.'),
  lookup: choiceOption(
    ['member', 'memberOf', 'memberUid', 'chain'],
    'member',
    'Groups with the person in `member` or `uniqueMember`, also nested; `memberOf` of the person, not nested; POSIX groups; or nested groups by a rule of Active Directory, which is slow in large domains.',
  ),
  nameAttribute: textOption('cn', 'Attribute with the name of a group.', OBJECT),
});

/** Section `ldap` of an identity provider. */
export const ldap = section('The directory, for the type `ldap`.', {
  schema: choiceOption(
    ['openldap', 'activeDirectory'],
    'openldap',
    '[Defaults](identity-providers.md#settings-of-directories) of empty options.',
  ),
  hosts: namesOption('LDAP servers, `host` or `host:port`, with the same entries.'),
  tls: choiceOption(['ldaps', 'startTLS'], 'ldaps', 'Encryption; the default port is 636 or 389.'),
  caFile: pathOption('CA bundle of the LDAP servers.'),
  bindDN: textOption('', 'DN of the service account that searches people and groups.'),
  bindPasswordRef,
  userSearch,
  groupSearch,
});
