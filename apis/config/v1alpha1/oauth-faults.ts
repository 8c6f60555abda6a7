// What the options of the token handler say about each other, and the places that it may be led to. Read as they stand
// in the file, faults of single options included, so that these hide nothing: what is mistyped counts as given.
import proxyAddress from 'proxy-addr';
import { isRedirectable, REDIRECTABLE } from '../../oauth/redirect-uri.ts';
import { array, record } from '../../reading/unknown-value.ts';

/** `path` is below `oauth`. */
export interface OAuthFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** `oauth`: the section as it was read, with its defaults. */
export function oauthFaults(oauth: unknown): OAuthFault[] {
  const { enabled, trustedProxies, clients } = record(oauth);
  if (enabled === false) return [];
  const ids = new Set<unknown>();
  return [
    ...texts(trustedProxies).flatMap(([index, range]) => proxyFaults(['trustedProxies', index], range)),
    ...array(clients).flatMap((client, index) =>
      clientFaults(['clients', String(index)], record(client), ids),
    ),
  ];
}

type Client = Readonly<Record<string, unknown>>;

/** What only a client with a secret may be let off. */
const LENIENT = { pkce: 'optional', refreshTokens: 'kept' } as const;

/** Options of a client that list where browsers may be sent. */
const DESTINATIONS = ['redirectURIs', 'postLogoutRedirectURIs'] as const;

function clientFaults(path: readonly string[], client: Client, ids: Set<unknown>): OAuthFault[] {
  const { id } = client;
  const twice = typeof id === 'string' && ids.has(id);
  ids.add(id);
  return [
    ...(twice ? [{ path: [...path, 'id'], message: 'is the id of another client already' }] : []),
    ...secretFaults(path, client),
    ...leniencyFaults(path, client),
    ...DESTINATIONS.flatMap((option) =>
      texts(client[option])
        .filter(([, uri]) => !isRedirectable(uri))
        .map(([index, uri]) => ({
          path: [...path, option, index],
          message: `must be ${REDIRECTABLE}, not ${JSON.stringify(uri)}`,
        })),
    ),
  ];
}

/** A client proves itself by a secret, or is public and has none. */
function secretFaults(path: readonly string[], client: Client): OAuthFault[] {
  const given = ['secretFiles', 'secretRef', 'nextSecretRef'].find((option) => isGiven(client[option]));
  if (client['public'] === true && given !== undefined) {
    return [{ path: [...path, given], message: 'does not go with public: true; one of them has to go' }];
  }
  if (client['public'] === false && given === undefined) {
    return [{ path, message: 'needs a secret: give it secretFiles or a secretRef, or make it public' }];
  }
  return [];
}

/**
 * Without a secret nothing but PKCE tells the client from somebody who has come by its code, and nothing but rotation
 * from somebody who has come by its refresh token (RFC 9700, 2.1.1 and 2.2.2).
 */
function leniencyFaults(path: readonly string[], client: Client): OAuthFault[] {
  if (client['public'] !== true) return [];
  return (['pkce', 'refreshTokens'] as const)
    .filter((option) => client[option] === LENIENT[option])
    .map((option) => ({
      path: [...path, option],
      message: `must not be ${LENIENT[option]} for a client that is public`,
    }));
}

/** A list that names files, a reference that names a Secret, or something of the wrong type in their place. */
function isGiven(option: unknown): boolean {
  if (option === undefined) return false;
  if (Array.isArray(option)) return option.length > 0;
  return record(option)['name'] !== '';
}

function proxyFaults(path: readonly string[], range: string): OAuthFault[] {
  try {
    proxyAddress.compile(range);
    return [];
  } catch {
    const message = `must be an address or a network such as 10.0.0.0/8, not ${JSON.stringify(range)}`;
    return [{ path, message }];
  }
}

/** Of a list of texts each with its index. */
function texts(value: unknown): [string, string][] {
  return array(value).flatMap((item, index) => (typeof item === 'string' ? [[String(index), item]] : []));
}
