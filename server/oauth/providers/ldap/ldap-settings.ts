// Settings of a directory, with the defaults of its schema.
import type { ResolvedConfiguration } from '../../../../apis/config/v1alpha1/configuration.ts';
import type { SecretReference } from '../../clients/oauth-client.ts';

/** How the groups of a person are found. */
type GroupLookup = 'member' | 'memberOf' | 'memberUid' | 'chain';

export interface LDAPSettings {
  /** `host` or `host:port`, in the order of preference. */
  readonly hosts: readonly string[];
  /** Connections without TLS are not supported: they would send passwords in plain text. */
  readonly tls: 'ldaps' | 'startTLS';
  /** PEM file with the CA certificates; empty for those of Node.js. */
  readonly caFile: string;
  /** The service account, for searches. */
  readonly bindDN: string;
  readonly bindPasswordRef: SecretReference;
  readonly users: {
    readonly base: string;
    readonly filter: string;
    /** A typed name must equal one of these attributes. */
    readonly loginAttributes: readonly string[];
    readonly nameAttribute: string;
    readonly idAttribute: string;
    /** An attribute of each person that says whether the account is disabled; empty without one. */
    readonly stateAttribute: string;
  };
  readonly groups: {
    /** Empty: no groups are read. */
    readonly base: string;
    readonly filter: string;
    readonly lookup: GroupLookup;
    readonly nameAttribute: string;
  };
}

export type DirectorySchema = 'openldap' | 'activeDirectory';

const SCHEMAS: Readonly<
  Record<DirectorySchema, Omit<LDAPSettings['users'], 'base'> & { readonly groupFilter: string }>
> = {
  openldap: {
    filter: '(objectClass=person)',
    loginAttributes: ['uid'],
    nameAttribute: 'uid',
    idAttribute: 'entryUUID',
    stateAttribute: '',
    groupFilter: '(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup))',
  },
  activeDirectory: {
    // 805306368: people, without computers and trusts.
    filter: '(&(objectClass=user)(sAMAccountType=805306368))',
    loginAttributes: ['sAMAccountName', 'userPrincipalName'],
    nameAttribute: 'sAMAccountName',
    idAttribute: 'objectGUID',
    stateAttribute: 'userAccountControl',
    groupFilter: '(objectClass=group)',
  },
};

/**
 * The issuer of a directory: the root of its tree. It does not contain a host, because hosts are replaced, nor a folder of people, because
 * the base of the search may be narrowed.
 */
export function issuerOfDirectory(base: string): string {
  const names = base.toLowerCase().split(/\s*,\s*/);
  const first = names.findIndex((name) => name.startsWith('dc='));
  return `ldap:///${names.slice(first < 0 ? -1 : first).join(',')}`;
}

type Options = ResolvedConfiguration['oauth']['identityProviders'][number]['ldap'];

/** The options of a directory; empty ones have the value of the schema. */
export function ldapSettings({ schema, userSearch, groupSearch, ...connection }: Options): LDAPSettings {
  const { groupFilter, ...users } = SCHEMAS[schema];
  const { loginAttributes } = userSearch;
  return {
    ...connection,
    users: {
      base: userSearch.base,
      filter: userSearch.filter || users.filter,
      loginAttributes: loginAttributes.length > 0 ? loginAttributes : users.loginAttributes,
      nameAttribute: userSearch.nameAttribute || users.nameAttribute,
      idAttribute: userSearch.idAttribute || users.idAttribute,
      stateAttribute: users.stateAttribute,
    },
    groups: { ...groupSearch, filter: groupSearch.filter || groupFilter },
  };
}
