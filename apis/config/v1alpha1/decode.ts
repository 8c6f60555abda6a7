// From the text of a configuration file, and what flags override in it, to a checked configuration; or to all of
// its faults at once. Reads no files and knows no flags: configuration.ts is the schema, server/config.ts the caller.
import type { ErrorObject } from 'ajv';
import { isRecord } from '../../meta/v1/unknown-value.ts';
import {
  type APIServerConfiguration,
  APIServerConfigurationSchema,
  apiVersionOf,
  type ResolvedConfiguration,
} from './configuration.ts';
import { parseDocument } from './document.ts';
import { parseDuration } from './duration.ts';
import { explain } from './explanation.ts';
import { ConfigurationError, type Fault } from './fault.ts';
import { FaultLocator, type Override } from './fault-locator.ts';
import { logStoreFaults } from './log-store-faults.ts';
import { oauthFaults } from './oauth-faults.ts';
import { resolveUnits } from './units.ts';
import { newValidator } from './validator.ts';

export interface ConfigurationText {
  /** Name of the file, for faults. */
  readonly source: string;
  readonly text: string;
}

/** Throws ConfigurationError with every fault. Without `file`, all defaults. */
export function decodeConfiguration(
  file: ConfigurationText | undefined,
  overrides: readonly Override[] = [],
): ResolvedConfiguration {
  const document = file ? parseDocument(file.text, file.source) : undefined;
  const faults = [...(document?.faults ?? [])];
  if (document && document.value === undefined) throw new ConfigurationError(faults);

  const value = withoutEmptySections(document?.value ?? emptyConfiguration(), APIServerConfigurationSchema);
  for (const override of overrides) put(value, override.path, override.value);

  const locator = new FaultLocator(file?.source ?? 'defaults', document, overrides);
  const validate = newValidator(false);
  const errors = validate(value) ? [] : mostTelling(errorsOf(value));
  // Before anything is taken out: of a list with one wrong entry nothing stays.
  if (isRecord(value)) {
    for (const { path, message } of oauthFaults(value['oauth'])) {
      faults.push(locator.fault(['oauth', ...path], 'value', message));
    }
    for (const { path, message } of logStoreFaults(value['logging'])) {
      faults.push(locator.fault(['logging', ...path], 'value', message));
    }
  }
  for (const error of errors) {
    const { path, which, message } = explain(error);
    faults.push(locator.fault(path, which, message));
    remove(value, path);
  }
  // What is left is checked for contradictions too, so that the second run does not find what the first hid.
  if (isRecord(value)) Object.assign(value, { ...emptyConfiguration(), ...value });
  if (!validate(value)) throw new ConfigurationError(inOrder(faults));
  faults.push(...contradictions(value, locator));
  if (faults.length > 0) throw new ConfigurationError(inOrder(faults));
  return resolveUnits(value);
}

function inOrder(faults: readonly Fault[]): Fault[] {
  const line = (fault: Fault) => fault.position?.line ?? Number.POSITIVE_INFINITY;
  return [...faults].sort((left, right) => (line(left) === line(right) ? 0 : line(left) - line(right)));
}

function errorsOf(value: unknown): readonly ErrorObject[] {
  const validate = newValidator(true);
  return validate(value) ? [] : (validate.errors ?? []);
}

/** Of a value of the wrong type only that is said. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject[] {
  const mistyped = new Set(
    errors.flatMap(({ keyword, instancePath }) => (keyword === 'type' ? instancePath : [])),
  );
  return errors.filter(({ keyword, instancePath }) => keyword === 'type' || !mistyped.has(instancePath));
}

function emptyConfiguration(): Record<string, unknown> {
  return { apiVersion: apiVersionOf('platform'), kind: 'APIServerConfiguration' };
}

/** Faults that lie between options, not in one. */
function contradictions(configuration: APIServerConfiguration, locator: FaultLocator): Fault[] {
  const faults: Fault[] = [];
  const { secure, insecure, limits } = configuration.listeners;
  const versions = [...new Set([apiVersionOf('platform'), apiVersionOf(configuration.platform.name)])];
  if (!versions.includes(configuration.apiVersion)) {
    faults.push(locator.fault(['apiVersion'], 'value', `must be ${versions.join(' or ')}`));
  }
  if ((secure.certFile === '') !== (secure.keyFile === '')) {
    const missing = secure.certFile === '' ? 'certFile' : 'keyFile';
    const given = secure.certFile === '' ? 'keyFile' : 'certFile';
    faults.push(locator.fault(['listeners', 'secure', given], 'key', `needs ${missing} beside it`));
  }
  if (secure.caFile !== '' && secure.certFile === '') {
    faults.push(locator.fault(['listeners', 'secure', 'caFile'], 'key', 'needs certFile beside it'));
  }
  if (insecure.enabled && insecure.port !== 0 && insecure.port === secure.port) {
    faults.push(
      locator.fault(['listeners', 'insecure', 'port'], 'value', 'is the same port as listeners.secure.port'),
    );
  }
  if (milliseconds(limits.requestTimeout) < milliseconds(limits.headersTimeout)) {
    faults.push(
      locator.fault(
        ['listeners', 'limits', 'requestTimeout'],
        'value',
        'must not be shorter than headersTimeout',
      ),
    );
  }
  return faults;
}

function milliseconds(text: string): number {
  return parseDuration(text) ?? Number.NaN;
}

/** A section whose options are all commented out is null in YAML; it means the defaults. */
function withoutEmptySections(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value) && isRecord(schema)) {
    return value.map((entry: unknown) => withoutEmptySections(entry, schema['items']));
  }
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema['properties'])) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const known = Object.hasOwn(schema['properties'], key) ? schema['properties'][key] : undefined;
    if (member === null && isRecord(known) && known['type'] === 'object') continue;
    // Not a plain assignment: a key named __proto__ has to reach the validator.
    Object.defineProperty(kept, key, {
      value: withoutEmptySections(member, known),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return kept;
}

function put(root: unknown, path: readonly string[], value: unknown): void {
  let target = root;
  for (const [depth, segment] of path.entries()) {
    // The file's own fault, that a section is not one, is reported by the validator.
    if (!isRecord(target)) return;
    if (depth === path.length - 1) target[segment] = value;
    else target = target[segment] ??= {};
  }
}

/** Takes out an option; a list as a whole, whatever in it is meant. */
function remove(root: unknown, path: readonly string[]): void {
  let target = root;
  for (const [depth, segment] of path.entries()) {
    if (!isRecord(target)) return;
    if (depth === path.length - 1 || Array.isArray(target[segment])) delete target[segment];
    else target = target[segment];
  }
}
