// Patterns of the pod names that controllers generate for a workload. Log records contain the name of the pod, but
// not its owner.
import type { NameFilter } from '../store/log-store.ts';
import { containsOneOf } from './name-filter.ts';

/** The alphabet of random suffixes and hashes in Kubernetes. */
const RANDOM = '[b-df-hj-np-tv-xz2456789]';
/** A generated name is a prefix, truncated to this length, and five random characters. */
const LONGEST_BEGIN = 58;
const LONGEST_HASH = 10;

/** A form of pod names: a literal text between two regular expressions. */
interface PodNameForm {
  readonly before: string;
  readonly text: string;
  readonly behind: string;
}

const SUFFIX = [
  // ReplicaSet, DaemonSet, Job
  `-${RANDOM}{5}`,
  // Deployment
  `-${RANDOM}{1,${LONGEST_HASH}}-${RANDOM}{5}`,
  // StatefulSet
  '-[0-9]{1,10}',
  // CronJob, and a Job with indices
  `-[0-9]{1,10}-${RANDOM}{5}`,
].join('|');

/** Characters of a truncated name before its random suffix. */
const CUT = '[0-9a-z-]';
const ANY = '[0-9a-z.-]*';

/**
 * Alternative forms of pod names for each part of the filter. `exact`: pods of a Deployment, ReplicaSet, StatefulSet,
 * DaemonSet, Job or CronJob with one of the names. `contains`: pods of a workload whose name, as far as Kubernetes did not
 * truncate it, contains one of the texts. The expressions use only `[…]`, `(…|…)`, `{m,n}` and `*`, which all engines
 * interpret alike.
 */
export function podNameForms({ exact, contains }: NameFilter): readonly (readonly PodNameForm[])[] {
  return [
    ...(exact ? [exact.flatMap(named)] : []),
    ...(contains
      ? [contains.map((text) => ({ before: ANY, text: text.toLowerCase(), behind: `${ANY}(${SUFFIX})` }))]
      : []),
  ];
}

/** Regular expressions for the whole name of a pod; all of them must match. */
export function podPatterns(workloads: NameFilter): readonly string[] {
  return podNameForms(workloads).map((forms) =>
    forms.map(({ before, text, behind }) => `${before}${quoted(text)}${behind}`).join('|'),
  );
}

function named(workload: string): readonly PodNameForm[] {
  const whole = { before: '', text: workload, behind: `(${SUFFIX})` };
  const cut = cutName(workload);
  if (!cut) return [whole];
  return [whole, { before: '', text: cut.begin, behind: `${CUT}{0,${cut.rest}}${RANDOM}{5}` }];
}

/** The truncated form of a long name, and the maximum number of characters of a hash after it. */
function cutName(workload: string): { readonly begin: string; readonly rest: number } | undefined {
  if (workload.length + 1 + LONGEST_HASH + 1 <= LONGEST_BEGIN) return undefined;
  const begin = `${workload}-`.slice(0, LONGEST_BEGIN);
  return { begin, rest: LONGEST_BEGIN - begin.length };
}

const SUFFIX_ONLY = new RegExp(`^(${SUFFIX})$`);
const CUT_SUFFIX = new RegExp(`^${CUT}*${RANDOM}{5}$`);

/**
 * Tests pod names by the names of their possible workloads. A regular expression for a thousand workloads takes seconds
 * to compile and half a second for each name.
 */
export function workloadMatcher(workloads: NameFilter | undefined): (pod: string) => boolean {
  const { exact, contains } = workloads ?? {};
  const names = exact && new Set(exact);
  const cuts = exact?.flatMap((name) => cutName(name) ?? []) ?? [];
  const isIn = contains && containsOneOf(contains.map((text) => text.toLowerCase()));
  return (pod) => {
    const owners = ownersOf(pod);
    if (names && !owners.some((name) => names.has(name)) && !cuts.some((cut) => isCut(pod, cut)))
      return false;
    return !isIn || owners.some(isIn);
  };
}

/** Names of workloads to which a controller can have appended the end of the pod's name. */
function ownersOf(pod: string): readonly string[] {
  const ends = Array.from(pod.matchAll(/-/g), ({ index }) => index);
  return ends.filter((end) => SUFFIX_ONLY.test(pod.slice(end))).map((end) => pod.slice(0, end));
}

function isCut(pod: string, { begin, rest }: { readonly begin: string; readonly rest: number }): boolean {
  const more = pod.length - begin.length - 5;
  return more >= 0 && more <= rest && pod.startsWith(begin) && CUT_SUFFIX.test(pod.slice(begin.length));
}

function quoted(text: string): string {
  return text.replace(/[^0-9A-Za-z]/gu, (character) => (character === '-' ? '-' : inBrackets(character)));
}

function inBrackets(character: string): string {
  return /[\\\]^[]/.test(character) ? `\\${character}` : `[${character}]`;
}
