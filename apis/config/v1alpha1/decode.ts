// From the text of a configuration file, and what flags override in it, to a checked configuration; or to all of
// its faults at once. Reads no files and knows no flags: configuration.ts is the schema, server/config.ts the caller.
import type { ErrorObject } from 'ajv';
import { isRecord } from '../../reading/unknown-value.ts';
import { APIServerConfigurationSchema, apiVersionOf, type ResolvedConfiguration } from './configuration.ts';
import { contradictions } from './contradictions.ts';
import { parseDocument } from './document.ts';
import { explain } from './explanation.ts';
import { ConfigurationError, type Fault } from './fault.ts';
import { FaultLocator, type Override } from './fault-locator.ts';
import { logStoreFaults } from './log-store-faults.ts';
import { oauthFaults } from './oauth-faults.ts';
import { putOption, removeOption, withoutEmptySections } from './option-tree.ts';
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
  for (const override of overrides) putOption(value, override.path, override.value);

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
    removeOption(value, path);
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
