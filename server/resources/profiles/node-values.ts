// The sort keys, filters and columns of nodes.
import { comparing, ordered } from '../kind-profile.ts';
import type { KindValues } from './kind-values.ts';
import { nodeColumns, nodeIn, nodeListColumns } from './node-columns.ts';

export function nodeValues(): KindValues {
  return {
    read: () => [],
    sorts: new Map(),
    listColumns: nodeListColumns,
    columns: nodeColumns,
    ownFilters: { role: (facts) => nodeIn(facts).roles },
    sortKeys: {
      role: comparing(({ facts }) => nodeIn(facts).roles.join()),
      cpu: comparing(({ facts }) => nodeIn(facts).allocatable.cpu),
      memory: comparing(({ facts }) => nodeIn(facts).allocatable.memory),
      pods: comparing(({ facts }) => nodeIn(facts).allocatable.pods),
      kubeletVersion: (left, right) =>
        compareVersions(nodeIn(left.facts).kubeletVersion, nodeIn(right.facts).kubeletVersion),
    },
  };
}

interface Version {
  readonly release: readonly bigint[];
  /** The pre-release identifiers; empty for a release, which is later than its pre-releases. */
  readonly preRelease: readonly string[];
}

/**
 * Maximum length of a version. Kubelets write this text without validation, and comparisons would parse numbers of a
 * million digits.
 */
const MAX_LENGTH = 256;
const VERSION = /^v?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/;

/**
 * Compares versions such as `v1.36.3`, `v1.9.10-gke.100` and `v1.30.2+k3s1` by section 11 of Semantic Versioning 2.0.
 * Texts that are not versions come first. Versions of equal precedence are compared as text.
 */
export function compareVersions(left: string, right: string): number {
  if (left === right) return 0;
  const [a, b] = [parse(left), parse(right)];
  const order = a && b ? compare(a, b) : Number(a !== undefined) - Number(b !== undefined);
  return order || ordered(left, right);
}

function parse(text: string): Version | undefined {
  const match = text.length <= MAX_LENGTH ? VERSION.exec(text) : null;
  if (!match) return undefined;
  const [, release = '', preRelease = ''] = match;
  return {
    release: release.split('.').map(BigInt),
    preRelease: preRelease === '' ? [] : preRelease.split('.'),
  };
}

function compare(a: Version, b: Version): number {
  for (let i = 0; i < Math.max(a.release.length, b.release.length); i++) {
    const [left, right] = [a.release[i] ?? 0n, b.release[i] ?? 0n];
    if (left !== right) return ordered(left, right);
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0)
    return b.preRelease.length - a.preRelease.length;
  for (let i = 0; i < Math.max(a.preRelease.length, b.preRelease.length); i++) {
    const [left, right] = [a.preRelease[i], b.preRelease[i]];
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    const order = compareIdentifiers(left, right);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares pre-release identifiers: numbers by value, words by characters, and numbers before words. */
function compareIdentifiers(left: string, right: string): number {
  const [a, b] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (a !== b) return a ? -1 : 1;
  return a ? ordered(BigInt(left), BigInt(right)) : ordered(left, right);
}
