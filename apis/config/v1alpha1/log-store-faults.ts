// What the options of a log store say about each other. Only the store that is chosen is looked at. Read as they stand
// in the file, faults of single options included, so that these hide nothing: what is mistyped counts as given.
import { isIPv4 } from 'node:net';
import { suggestion } from '../../reading/suggestion.ts';
import { isRecord, record } from '../../reading/unknown-value.ts';
import type { APIServerConfiguration } from './configuration.ts';
import { LOG_STORES } from './logging-options.ts';

/** `path` is below `logging`. */
export interface StoreFault {
  readonly path: readonly string[];
  readonly message: string;
}

type Logging = APIServerConfiguration['logging'];

/** `logging`: the section as it was read, with its defaults. */
export function logStoreFaults(logging: unknown): StoreFault[] {
  const { enabled, store, opensearch, victorialogs } = record(logging);
  const chosen = meantBy(store);
  if (enabled === false) return [];
  if (chosen === 'opensearch' && isRecord(opensearch)) return openSearchFaults(opensearch);
  if (chosen === 'victorialogs' && isRecord(victorialogs)) return victoriaLogsFaults(victorialogs);
  return [];
}

/** A misspelled name hides no faults of the store that was meant. */
function meantBy(store: unknown): string | undefined {
  return typeof store === 'string' ? suggestion(store, LOG_STORES) : undefined;
}

type Options = Readonly<Record<string, unknown>>;

function openSearchFaults(options: Options): StoreFault[] {
  const { urls, apiKeyFile } = options;
  const addresses = Array.isArray(urls) ? urls : undefined;
  const credentials = isGiven(options['username']) || isGiven(apiKeyFile);
  return [
    ...(addresses?.length === 0
      ? [{ path: ['opensearch', 'urls'], message: 'needs at least one address' }]
      : []),
    ...(addresses ?? []).flatMap((url: unknown, index) =>
      addressFaults(['opensearch', 'urls', String(index)], url, credentials),
    ),
    ...credentialFaults('opensearch', options, 'apiKeyFile'),
  ];
}

function victoriaLogsFaults(options: Options): StoreFault[] {
  const { url, username, bearerTokenFile } = options;
  return [
    ...addressFaults(['victorialogs', 'url'], url, isGiven(username) || isGiven(bearerTokenFile)),
    ...credentialFaults('victorialogs', options, 'bearerTokenFile'),
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

function isGiven(option: unknown): boolean {
  return option !== undefined && option !== '';
}

/** What is no text has a fault of its own already. */
function addressFaults(path: readonly string[], url: unknown, credentials: boolean): StoreFault[] {
  if (typeof url !== 'string') return [];
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

/** `other`: the option that stands in place of user and password. */
function credentialFaults(store: string, options: Options, other: string): StoreFault[] {
  const user = isGiven(options['username']);
  const password = isGiven(options['passwordFile']);
  if (isGiven(options[other]) && (user || password)) {
    return [{ path: [store, other], message: 'does not go with username and passwordFile' }];
  }
  if (user === password) return [];
  const [given, missing] = user ? ['username', 'passwordFile'] : ['passwordFile', 'username'];
  return [{ path: [store, given], message: `needs ${missing} beside it` }];
}

/** A name may begin like an address: 127.example.com is anywhere. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
