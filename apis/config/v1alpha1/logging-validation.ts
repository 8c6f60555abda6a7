// Validates the configuration section `logging` by rules that JSON Schema cannot express, such as valid store URLs.
import { isIPv4 } from 'node:net';
import { suggestion } from '../../reading/suggestion.ts';
import { record } from '../../reading/unknown-value.ts';
import type { APIServerConfiguration } from './configuration.ts';
import type { OptionError } from './configuration-error.ts';
import { LOG_STORES } from './logging-options.ts';

type Logging = APIServerConfiguration['logging'];

/** Returns the validation errors, with paths relative to `logging`: the section with its defaults, not validated by the schema. */
export function loggingErrors(logging: unknown): OptionError[] {
  // A section with schema errors is validated too, so that all errors are reported together.
  const options = record(logging);
  const store = intendedStore(options['store']);
  if (options['enabled'] === false || store === undefined || store === 'kubernetes') return [];
  const { urls } = options;
  const addresses = Array.isArray(urls) ? urls : undefined;
  const credentials = isSet(options['username']) || isSet(options['tokenFile']);
  return [
    ...(addresses?.length === 0 ? [{ path: ['urls'], message: 'requires at least one URL' }] : []),
    ...(store === 'victorialogs' && addresses !== undefined && addresses.length > 1
      ? [{ path: ['urls'], message: 'must be one URL of VictoriaLogs' }]
      : []),
    ...(addresses ?? []).flatMap((url: unknown, index) =>
      urlErrors(['urls', String(index)], url, credentials),
    ),
    ...credentialErrors(options),
  ];
}

/** Returns the store, or for a misspelled name the most similar one, so that its errors are reported too. */
function intendedStore(store: unknown): string | undefined {
  return typeof store === 'string' ? suggestion(store, LOG_STORES) : undefined;
}

type Options = Readonly<Record<string, unknown>>;

/** Returns the URLs without TLS of the log store, except those with loopback addresses. */
export function plaintextURLs({
  store,
  urls,
}: Pick<Logging, 'store'> & { readonly urls: readonly string[] }): string[] {
  return store === 'kubernetes' ? [] : urls.filter(isPlaintext);
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

/** Returns the errors of credentials: a token, or a user name with a password. */
function credentialErrors(options: Options): OptionError[] {
  const user = isSet(options['username']);
  const password = isSet(options['passwordFile']);
  if (isSet(options['tokenFile']) && (user || password)) {
    return [{ path: ['tokenFile'], message: 'conflicts with username and passwordFile' }];
  }
  if (user === password) return [];
  const [given, missing] = user ? ['username', 'passwordFile'] : ['passwordFile', 'username'];
  return [{ path: [given], message: `requires ${missing}` }];
}

/** Returns true for a loopback host. `127.example.com` is a host name, not a loopback address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
