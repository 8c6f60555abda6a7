// Validates the configuration section `logging` by rules that JSON Schema cannot express, such as valid store URLs.
import { isIPv4 } from 'node:net';
import { suggestion } from '../../reading/suggestion.ts';
import { isRecord, record } from '../../reading/unknown-value.ts';
import type { APIServerConfiguration } from './configuration.ts';
import type { OptionError } from './configuration-error.ts';
import { LOG_STORES } from './logging-options.ts';

type Logging = APIServerConfiguration['logging'];

/** Returns the validation errors, with paths relative to `logging`: the section with its defaults, not validated by the schema. */
export function loggingErrors(logging: unknown): OptionError[] {
  // A section with schema errors is validated too, so that all errors are reported together.
  const { enabled, store, opensearch, victorialogs } = record(logging);
  const chosen = intendedStore(store);
  if (enabled === false) return [];
  if (chosen === 'opensearch' && isRecord(opensearch)) return openSearchErrors(opensearch);
  if (chosen === 'victorialogs' && isRecord(victorialogs)) return victoriaLogsErrors(victorialogs);
  return [];
}

/** Returns the store, or for a misspelled name the most similar one, so that its errors are reported too. */
function intendedStore(store: unknown): string | undefined {
  return typeof store === 'string' ? suggestion(store, LOG_STORES) : undefined;
}

type Options = Readonly<Record<string, unknown>>;

function openSearchErrors(options: Options): OptionError[] {
  const { urls, apiKeyFile } = options;
  const addresses = Array.isArray(urls) ? urls : undefined;
  const credentials = isSet(options['username']) || isSet(apiKeyFile);
  return [
    ...(addresses?.length === 0
      ? [{ path: ['opensearch', 'urls'], message: 'requires at least one URL' }]
      : []),
    ...(addresses ?? []).flatMap((url: unknown, index) =>
      urlErrors(['opensearch', 'urls', String(index)], url, credentials),
    ),
    ...credentialErrors('opensearch', options, 'apiKeyFile'),
  ];
}

function victoriaLogsErrors(options: Options): OptionError[] {
  const { url, username, bearerTokenFile } = options;
  return [
    ...urlErrors(['victorialogs', 'url'], url, isSet(username) || isSet(bearerTokenFile)),
    ...credentialErrors('victorialogs', options, 'bearerTokenFile'),
  ];
}

/** Returns the URLs without TLS of the selected store, except those with loopback addresses. */
export function plaintextURLs({ store, opensearch, victorialogs }: StoreAddresses): string[] {
  const addresses = { kubernetes: [], opensearch: opensearch.urls, victorialogs: [victorialogs.url] };
  return addresses[store].filter(isPlaintext);
}

interface StoreAddresses {
  readonly store: Logging['store'];
  readonly opensearch: { readonly urls: readonly string[] };
  readonly victorialogs: { readonly url: string };
}

function isPlaintext(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'http:' && !isLoopback(parsed.hostname);
}

function isSet(option: unknown): boolean {
  return option !== undefined && option !== '';
}

/** Returns the errors of a URL. The schema reports a value of the wrong type. */
function urlErrors(path: readonly string[], url: unknown, credentials: boolean): OptionError[] {
  if (typeof url !== 'string') return [];
  const parsed = URL.parse(url);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    return [{ path, message: 'must be a URL, https://…' }];
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return [{ path, message: 'must not contain credentials; use username and a file' }];
  }
  if (credentials && isPlaintext(url)) {
    return [{ path, message: 'must begin with https:// when credentials are configured' }];
  }
  return [];
}

/** Returns the errors of credentials. `other`: the alternative to user and password. */
function credentialErrors(store: string, options: Options, other: string): OptionError[] {
  const user = isSet(options['username']);
  const password = isSet(options['passwordFile']);
  if (isSet(options[other]) && (user || password)) {
    return [{ path: [store, other], message: 'conflicts with username and passwordFile' }];
  }
  if (user === password) return [];
  const [given, missing] = user ? ['username', 'passwordFile'] : ['passwordFile', 'username'];
  return [{ path: [store, given], message: `requires ${missing}` }];
}

/** Returns true for a loopback host. `127.example.com` is a host name, not a loopback address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
