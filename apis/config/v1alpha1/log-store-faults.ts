// What the options of a log store say about each other. Only the store that is chosen is looked at.
import { isIPv4 } from 'node:net';
import type { APIServerConfiguration } from './configuration.ts';

/** `path` is below `logging`. */
export interface StoreFault {
  readonly path: readonly string[];
  readonly message: string;
}

type Logging = APIServerConfiguration['logging'];

export function logStoreFaults({ enabled, store, opensearch, victorialogs }: Logging): StoreFault[] {
  if (!enabled || store === 'kubernetes') return [];
  if (store === 'opensearch') {
    return [
      ...(opensearch.urls.length === 0
        ? [{ path: [store, 'urls'], message: 'needs an address at least' }]
        : []),
      ...opensearch.urls.flatMap((url, index) =>
        addressFaults([store, 'urls', String(index)], url, hasCredentials(opensearch)),
      ),
      ...credentialFaults(store, opensearch, 'apiKeyFile', opensearch.apiKeyFile),
    ];
  }
  return [
    ...addressFaults([store, 'url'], victorialogs.url, hasCredentials(victorialogs)),
    ...credentialFaults(store, victorialogs, 'bearerTokenFile', victorialogs.bearerTokenFile),
  ];
}

/** Those addresses of the chosen store where what is sent can be read on the way. */
export function openAddresses({ store, opensearch, victorialogs }: StoreAddresses): string[] {
  const addresses = { kubernetes: [], opensearch: opensearch.urls, victorialogs: [victorialogs.url] };
  return addresses[store].filter(isOpenAddress);
}

interface StoreAddresses {
  readonly store: Logging['store'];
  readonly opensearch: { readonly urls: readonly string[] };
  readonly victorialogs: { readonly url: string };
}

function isOpenAddress(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'http:' && !isLoopback(parsed.hostname);
}

interface Credentials {
  readonly username: string;
  readonly passwordFile: string;
  readonly apiKeyFile?: string;
  readonly bearerTokenFile?: string;
}

function hasCredentials({ username, apiKeyFile = '', bearerTokenFile = '' }: Credentials): boolean {
  return username !== '' || apiKeyFile !== '' || bearerTokenFile !== '';
}

function addressFaults(path: readonly string[], url: string, credentials: boolean): StoreFault[] {
  const parsed = URL.parse(url);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    return [{ path, message: 'must be an address, https://…' }];
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return [{ path, message: 'must not hold credentials; give them by username and a file' }];
  }
  if (credentials && isOpenAddress(url)) {
    return [
      { path, message: 'must begin with https:// where there are credentials, which anybody could read' },
    ];
  }
  return [];
}

function credentialFaults(
  store: string,
  { username, passwordFile }: Credentials,
  other: string,
  otherFile: string,
): StoreFault[] {
  if (otherFile !== '' && (username !== '' || passwordFile !== '')) {
    return [{ path: [store, other], message: 'does not go with username and passwordFile' }];
  }
  if ((username === '') === (passwordFile === '')) return [];
  const [given, missing] = username === '' ? ['passwordFile', 'username'] : ['username', 'passwordFile'];
  return [{ path: [store, given], message: `needs ${missing} beside it` }];
}

/** A name may begin like an address: 127.example.com is anywhere. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
