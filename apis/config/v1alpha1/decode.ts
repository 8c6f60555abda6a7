// Decoder of the configuration file: parses the YAML text, applies flags and validates the result. One error lists
// all validation errors.
import type { ErrorObject } from 'ajv';
import { describeError } from '../../reading/schema-error.ts';
import { isRecord } from '../../reading/unknown-value.ts';
import {
  type APIServerConfiguration,
  APIServerConfigurationSchema,
  apiVersionOf,
  type ResolvedConfiguration,
} from './configuration.ts';
import { parseDocument } from './configuration-document.ts';
import { ConfigurationError, type OptionError, type ValidationError } from './configuration-error.ts';
import { ErrorLocator, type Override } from './error-locator.ts';
import { loggingErrors } from './logging-validation.ts';
import { oauthErrors } from './oauth-validation.ts';
import { putOption, removeOption, withoutEmptySections } from './option-tree.ts';
import { withoutRemovedOptions } from './removed-options.ts';
import { resolveUnits } from './resolve.ts';
import { configurationValidator } from './validator.ts';

interface ConfigurationText {
  /** Name of the file, for validation errors. */
  readonly source: string;
  readonly text: string;
}

const WORDING = { unknown: 'unknown option', quotesValues: true } as const;

/** As decodeOptions, with durations in milliseconds. */
export function decodeConfiguration(...source: Parameters<typeof decodeOptions>): ResolvedConfiguration {
  return resolveUnits(decodeOptions(...source));
}

/**
 * Decodes the configuration, and adds all defaults. Without `file`, returns the defaults. Throws ConfigurationError with all
 * validation errors. Calls `warn` for each removed option.
 */
export function decodeOptions(
  file: ConfigurationText | undefined,
  overrides: readonly Override[] = [],
  warn: (warning: string) => void = () => undefined,
): APIServerConfiguration {
  const document = file ? parseDocument(file.text, file.source) : undefined;
  const problems = [...(document?.errors ?? [])];
  if (document && document.value === undefined) throw new ConfigurationError(problems);

  const value = withoutEmptySections(document?.value ?? emptyConfiguration(), APIServerConfigurationSchema);
  for (const warning of withoutRemovedOptions(value)) warn(warning);
  for (const override of overrides) putOption(value, override.path, override.value);

  const locator = new ErrorLocator(file?.source ?? 'defaults', document, overrides);
  const validate = configurationValidator(false);
  const errors = validate(value) ? [] : mostRelevant(errorsOf(value));
  // This comes before the removal of invalid options, because an invalid list item removes the whole list.
  if (isRecord(value)) {
    for (const { path, message } of oauthErrors(value['oauth'])) {
      problems.push(locator.error({ path: ['oauth', ...path], message }));
    }
    for (const { path, message } of loggingErrors(value['logging'])) {
      problems.push(locator.error({ path: ['logging', ...path], message }));
    }
  }
  for (const error of errors) {
    const { path, problem, message } = describeError(error, WORDING);
    const isName = problem === 'unknown' || problem === 'missing';
    problems.push(locator.error({ path, which: isName ? 'key' : 'value', message }));
    removeOption(value, path);
  }
  // The valid options are checked for contradictions too, so that all errors are reported at once.
  if (isRecord(value)) Object.assign(value, { ...emptyConfiguration(), ...value });
  if (!validate(value)) throw new ConfigurationError(inOrder(problems));
  problems.push(...contradictions(value).map((error) => locator.error(error)));
  if (problems.length > 0) throw new ConfigurationError(inOrder(problems));
  return value;
}

function inOrder(errors: readonly ValidationError[]): ValidationError[] {
  const line = (error: ValidationError) => error.position?.line ?? Number.POSITIVE_INFINITY;
  return [...errors].sort((left, right) => (line(left) === line(right) ? 0 : line(left) - line(right)));
}

function errorsOf(value: unknown): readonly ErrorObject[] {
  const validate = configurationValidator(true);
  return validate(value) ? [] : (validate.errors ?? []);
}

/** Drops the other errors of a value that has the wrong type. */
function mostRelevant(errors: readonly ErrorObject[]): ErrorObject[] {
  const mistyped = new Set(
    errors.flatMap(({ keyword, instancePath }) => (keyword === 'type' ? instancePath : [])),
  );
  return errors.filter(({ keyword, instancePath }) => keyword === 'type' || !mistyped.has(instancePath));
}

function emptyConfiguration(): Record<string, unknown> {
  return { apiVersion: apiVersionOf('platform'), kind: 'APIServerConfiguration' };
}

/** Returns the validation errors of contradicting options. */
function contradictions({
  platform,
  apiVersion,
  listeners,
  ...others
}: APIServerConfiguration): OptionError[] {
  const { secure, insecure } = listeners;
  const { oauth, cors, gateway, tracing } = others;
  const versions = [...new Set([apiVersionOf('platform'), apiVersionOf(platform.name)])];
  const isSamePort = insecure.enabled && insecure.port !== 0 && insecure.port === secure.port;
  const trusted = [
    oauth.issuer,
    ...cors.allowedOrigins,
    ...oauth.clients.flatMap(({ redirectURIs }) => redirectURIs),
  ];
  const isTrusted = trusted.some((url) => URL.parse(url)?.hostname === gateway.proxyHost);
  return [
    ...(versions.includes(apiVersion)
      ? []
      : [{ path: ['apiVersion'], message: `must be ${versions.join(' or ')}` }]),
    ...requires(secure, 'certFile', 'keyFile'),
    ...requires(secure, 'keyFile', 'certFile'),
    ...requires(secure, 'caFile', 'certFile'),
    ...(isSamePort
      ? [{ path: ['listeners', 'insecure', 'port'], message: 'is the same port as listeners.secure.port' }]
      : []),
    ...(gateway.proxyHost !== '' && isTrusted
      ? [{ path: ['gateway', 'proxyHost'], message: TRUSTED_HOST }]
      : []),
    ...(tracing.caFile !== '' && !tracing.endpoint.startsWith('https:')
      ? [
          {
            path: ['tracing', 'caFile'],
            which: 'key' as const,
            message: 'requires an https:// URL as endpoint',
          },
        ]
      : []),
  ];
}

const TRUSTED_HOST =
  'must not be the host of oauth.issuer, cors.allowedOrigins or a redirect URI, because any backend has pages there';

type SecureFiles = Readonly<Record<'certFile' | 'keyFile' | 'caFile', string>>;

function requires(secure: SecureFiles, given: keyof SecureFiles, needed: keyof SecureFiles): OptionError[] {
  if (secure[given] === '' || secure[needed] !== '') return [];
  return [{ path: ['listeners', 'secure', given], which: 'key', message: `requires ${needed}` }];
}
