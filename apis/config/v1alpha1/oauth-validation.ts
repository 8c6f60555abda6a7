// Validates the configuration section `oauth` by rules that JSON Schema cannot express, such as valid redirect URIs.
import proxyAddress from 'proxy-addr';
import { ACCEPTED_REDIRECT_URIS, isAcceptedRedirectURI } from '../../oauth/redirect-uri.ts';
import { array, record } from '../../reading/unknown-value.ts';
import type { OptionError } from './configuration-error.ts';
import { identityProviderErrors } from './identity-provider-validation.ts';

/** Returns the validation errors, with paths relative to `oauth`: the section with its defaults, not validated by the schema. */
export function oauthErrors(oauth: unknown): OptionError[] {
  // A section with schema errors is validated too, so that all errors are reported together.
  const { enabled, issuer, trustedProxies, clients, identityProviders, secondFactor } = record(oauth);
  if (enabled === false) return [];
  const ids = new Set<unknown>();
  return [
    ...urlErrors(['issuer'], issuer),
    ...texts(trustedProxies).flatMap(([index, range]) => proxyErrors(['trustedProxies', index], range)),
    ...array(clients).flatMap((client, index) =>
      clientErrors(['clients', String(index)], record(client), ids),
    ),
    ...identityProviderErrors(identityProviders),
    ...secondFactorErrors(secondFactor, identityProviders),
  ];
}

/** A name that is misspelled must not disable the requirement. */
function secondFactorErrors(secondFactor: unknown, identityProviders: unknown): OptionError[] {
  const known = new Set(array(identityProviders).map((provider) => record(provider)['name']));
  return texts(record(secondFactor)['providers'])
    .filter(([, name]) => !known.has(name))
    .map(([index, name]) => ({
      path: ['secondFactor', 'providers', index],
      message: `must be the name of an identity provider, not ${JSON.stringify(name)}`,
    }));
}

type Client = Readonly<Record<string, unknown>>;

/** Values that are allowed only for confidential clients. */
const LENIENT = { pkce: 'optional', refreshTokens: 'kept' } as const;

/** Options with redirect URIs. */
const REDIRECT_OPTIONS = ['redirectURIs', 'postLogoutRedirectURIs'] as const;

function clientErrors(path: readonly string[], client: Client, ids: Set<unknown>): OptionError[] {
  const { id } = client;
  const twice = typeof id === 'string' && ids.has(id);
  ids.add(id);
  return [
    ...(twice ? [{ path: [...path, 'id'], message: 'is already the id of another client' }] : []),
    ...secretErrors(path, client),
    ...leniencyErrors(path, client),
    ...urlErrors([...path, 'backchannelLogoutURI'], client['backchannelLogoutURI']),
    ...REDIRECT_OPTIONS.flatMap((option) =>
      texts(client[option])
        .filter(([, uri]) => !isAcceptedRedirectURI(uri))
        .map(([index, uri]) => ({
          path: [...path, option, index],
          message: `must be ${ACCEPTED_REDIRECT_URIS}, not ${JSON.stringify(uri)}`,
        })),
    ),
  ];
}

/** The pattern of the option accepts hosts and ports that no URL can have. */
function urlErrors(path: readonly string[], url: unknown): OptionError[] {
  if (typeof url !== 'string' || !url.startsWith('https://') || URL.canParse(url)) return [];
  return [{ path, message: 'must be a URL with a valid host and port' }];
}

/** Returns an error if a confidential client has no secret, or a public client has one. */
function secretErrors(path: readonly string[], client: Client): OptionError[] {
  const given = ['secretFiles', 'secretRef'].find((option) => isSet(client[option]));
  if (client['public'] === true && given !== undefined) {
    return [{ path: [...path, given], message: 'conflicts with public: true' }];
  }
  if (client['public'] === false && given === undefined) {
    return [{ path, message: 'requires a secret: set secretFiles or secretRef, or public: true' }];
  }
  return [];
}

/**
 * Returns errors for a public client without PKCE or without rotation of refresh tokens. It needs PKCE against stolen
 * codes, and rotation against stolen refresh tokens (RFC 9700, 2.1.1 and 2.2.2).
 */
function leniencyErrors(path: readonly string[], client: Client): OptionError[] {
  if (client['public'] !== true) return [];
  return (['pkce', 'refreshTokens'] as const)
    .filter((option) => client[option] === LENIENT[option])
    .map((option) => ({
      path: [...path, option],
      message: `must not be ${LENIENT[option]} for a public client`,
    }));
}

/** Returns true for a non-empty list of files, a reference to a Secret, or a value of the wrong type. */
function isSet(option: unknown): boolean {
  if (option === undefined) return false;
  if (Array.isArray(option)) return option.length > 0;
  return record(option)['name'] !== '';
}

function proxyErrors(path: readonly string[], range: string): OptionError[] {
  try {
    proxyAddress.compile(range);
    return [];
  } catch {
    const message = `must be an address or a network such as 10.0.0.0/8, not ${JSON.stringify(range)}`;
    return [{ path, message }];
  }
}

/** Returns the strings of a list with their indices. */
function texts(value: unknown): [string, string][] {
  return array(value).flatMap((item, index) => (typeof item === 'string' ? [[String(index), item]] : []));
}
