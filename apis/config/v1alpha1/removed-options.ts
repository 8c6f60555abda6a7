// The options of earlier versions. A configuration file with one of them is still valid: the option has no effect, and the
// log names its replacement.
import { isRecord } from '../../reading/unknown-value.ts';
import { removeOption } from './option-tree.ts';

/** Paths of removed options with the option that replaces them; remove an entry after two minor versions. */
const REMOVED: Readonly<Record<string, string>> = {
  'gateway.maxRequests': 'gateway.seats',
  'gateway.maxRequestsPerCaller': 'gateway.seats, which all callers share fairly',
  'gateway.maxStreams': 'gateway.streams',
  'gateway.maxStreamsPerCaller': 'gateway.streams, which all callers share fairly',
  'requests.maxReadOnly': 'requests.seats',
  'requests.maxMutating': 'requests.seats',
  'requests.maxLongRunning': 'requests.streams',
  'resources.kindBudget': 'resources.memoryBudget, for all caches together',
};

/** Deletes the removed options of a configuration. Returns a warning for each of them. */
export function withoutRemovedOptions(configuration: unknown): string[] {
  const warnings: string[] = [];
  for (const [option, replacement] of Object.entries(REMOVED)) {
    const path = option.split('.');
    if (!has(configuration, path)) continue;
    removeOption(configuration, path);
    warnings.push(`${option} is removed and has no effect; it is replaced by ${replacement}`);
  }
  return warnings;
}

function has(configuration: unknown, path: readonly string[]): boolean {
  let value = configuration;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return false;
    value = value[key];
  }
  return true;
}
