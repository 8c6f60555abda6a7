// Validates the identity providers by rules that JSON Schema cannot express, such as valid LDAP filters.
import { FilterParser } from 'ldapts';
import { messageOf } from '../../reading/thrown-value.ts';
import { array, record } from '../../reading/unknown-value.ts';
import type { OptionError } from './configuration-error.ts';

type Section = Readonly<Record<string, unknown>>;

/** `providers`: the list with its defaults, not validated by the schema. Paths are relative to `oauth`. */
export function identityProviderErrors(providers: unknown): OptionError[] {
  const names = new Set<unknown>();
  return array(providers).flatMap((provider, index) => {
    const path = ['identityProviders', String(index)];
    const { name, type, ldap, oidc } = record(provider);
    const isTwice = names.has(name);
    names.add(name);
    return [
      ...(isTwice ? [{ path: [...path, 'name'], message: 'is already the name of another provider' }] : []),
      ...(type === 'oidc'
        ? oidcErrors([...path, 'oidc'], record(oidc))
        : ldapErrors([...path, 'ldap'], record(ldap))),
    ];
  });
}

/** Parameters of an authorization request that the server sets itself. */
const RESERVED = new Set([
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'id_token_hint',
  'login_hint',
  'max_age',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

function oidcErrors(path: readonly string[], oidc: Section): OptionError[] {
  const { issuer, clientID, scopes, parameters } = oidc;
  const isIssuer = typeof issuer === 'string' && /^https:\/\/[^\s?#@]+$/.test(issuer) && URL.canParse(issuer);
  return [
    ...(isIssuer
      ? []
      : [{ path: [...path, 'issuer'], message: 'must be a URL with https, without query and fragment' }]),
    ...(isIssuer && issuer.includes('/.well-known/')
      ? [{ path: [...path, 'issuer'], message: 'must be the issuer, not the address of its metadata' }]
      : []),
    ...(clientID === '' ? [{ path: [...path, 'clientID'], message: 'must be set' }] : []),
    ...(array(scopes).includes('openid')
      ? []
      : [{ path: [...path, 'scopes'], message: 'must contain openid' }]),
    ...Object.keys(record(parameters))
      .filter((name) => RESERVED.has(name))
      .map((name) => ({ path: [...path, 'parameters', name], message: 'is set by the server' })),
  ];
}

function ldapErrors(path: readonly string[], ldap: Section): OptionError[] {
  const { hosts, bindDN } = ldap;
  const userSearch = record(ldap['userSearch']);
  const groupSearch = record(ldap['groupSearch']);
  const list = array(hosts);
  return [
    ...(list.length === 0 ? [{ path: [...path, 'hosts'], message: 'must name an LDAP server' }] : []),
    ...list.flatMap((host, index) => hostErrors([...path, 'hosts', String(index)], host)),
    ...dnErrors([...path, 'bindDN'], bindDN, false),
    ...dnErrors([...path, 'userSearch', 'base'], userSearch['base'], false),
    ...dnErrors([...path, 'groupSearch', 'base'], groupSearch['base'], true),
    ...filterErrors([...path, 'userSearch', 'filter'], userSearch['filter']),
    ...filterErrors([...path, 'groupSearch', 'filter'], groupSearch['filter']),
  ];
}

function hostErrors(path: readonly string[], host: unknown): OptionError[] {
  if (typeof host !== 'string') return [];
  const isHost = URL.canParse(`ldap://${host}`) && /^(\[[0-9a-f:.]+\]|[\w.-]+)(:\d+)?$/i.test(host);
  return isHost ? [] : [{ path, message: `must be host or host:port, not ${JSON.stringify(host)}` }];
}

function dnErrors(path: readonly string[], dn: unknown, isOptional: boolean): OptionError[] {
  if (typeof dn !== 'string' || (isOptional && dn === '')) return [];
  const isDN = /^[\w.-]+ *=./.test(dn);
  return isDN ? [] : [{ path, message: `must be a DN such as dc=example,dc=com, not ${JSON.stringify(dn)}` }];
}

function filterErrors(path: readonly string[], filter: unknown): OptionError[] {
  if (typeof filter !== 'string' || filter === '') return [];
  try {
    FilterParser.parseString(filter);
    return [];
  } catch (error) {
    return [{ path, message: `must be an LDAP filter: ${messageOf(error)}` }];
  }
}
