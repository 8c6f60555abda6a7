// Which pods belong to a workload, told by their names: stores keep the name of the pod and not that of its owner, which
// may be long gone.
import type { NameFilter } from '../log-store.ts';
import { containsOneOf } from './contained-text.ts';

/** The letters that Kubernetes takes for random suffixes and hashes. */
const RANDOM = '[b-df-hj-np-tv-xz2456789]';
/** A generated name is its prefix, cut to this length, and five random letters. */
const LONGEST_BEGIN = 58;
const LONGEST_HASH = 10;

/** Names of pods: a text as it stands, and what is before and behind it, as regular expressions. */
export interface PodNameForm {
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

/** `-`, digits and letters, up to where the five last letters are. */
const CUT = '[0-9a-z-]';
const ANY = '[0-9a-z.-]*';

/**
 * What pods of the workloads are called, a list of alternatives for each part of the filter. `exact`: pods of a
 * Deployment, ReplicaSet, StatefulSet, DaemonSet, Job or CronJob with one of the names. `contains`: of one that has one
 * of the texts in its name; where Kubernetes had to cut the name, in what is left of it. The regular expressions are
 * made of `[…]`, `(…|…)`, `{m,n}` and `*` alone, which every engine reads alike.
 */
export function podNameForms({ exact, contains }: NameFilter): readonly (readonly PodNameForm[])[] {
  return [
    ...(exact ? [exact.flatMap(named)] : []),
    ...(contains
      ? [contains.map((text) => ({ before: ANY, text: text.toLowerCase(), behind: `${ANY}(${SUFFIX})` }))]
      : []),
  ];
}

/** The same as regular expressions over the whole name, all of which hold. */
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

/** Of a long name: what is left of it, and how many characters of hashes fit behind that. */
function cutName(workload: string): { readonly begin: string; readonly rest: number } | undefined {
  if (workload.length + 1 + LONGEST_HASH + 1 <= LONGEST_BEGIN) return undefined;
  const begin = `${workload}-`.slice(0, LONGEST_BEGIN);
  return { begin, rest: LONGEST_BEGIN - begin.length };
}

const ENDS = {
  random: new RegExp(`-${RANDOM}{5}$`),
  hash: new RegExp(`-${RANDOM}{1,${LONGEST_HASH}}$`),
  number: /-[0-9]{1,10}$/,
  cut: new RegExp(`^${CUT}*${RANDOM}{5}$`),
} as const;

/**
 * Tells pods of the workloads by what is left of their names without what controllers append: as a regular expression, a
 * thousand workloads take an engine seconds to read, and half a second for each name.
 */
export function workloadMatcher(workloads: NameFilter | undefined): (pod: string) => boolean {
  const { exact, contains } = workloads ?? {};
  const names = exact && new Set(exact);
  const cuts = exact?.flatMap((name) => cutName(name) ?? []) ?? [];
  const isIn = contains && containsOneOf(contains.map((text) => text.toLowerCase()));
  return (pod) => {
    if (names && !ownersOf(pod).some((name) => names.has(name)) && !cuts.some((cut) => isCut(pod, cut))) {
      return false;
    }
    if (!isIn) return true;
    // Without the shorter of two endings, whose rest is that of the longer one and more.
    const rest = without(pod, ENDS.random) ?? without(pod, ENDS.number);
    return rest !== undefined && isIn(rest);
  };
}

/** What the workload of such a pod may be called. */
function ownersOf(pod: string): readonly string[] {
  const random = without(pod, ENDS.random);
  const ends = [
    random,
    without(pod, ENDS.number),
    ...(random === undefined ? [] : [without(random, ENDS.hash), without(random, ENDS.number)]),
  ];
  return ends.filter((name) => name !== undefined);
}

function without(name: string, end: RegExp): string | undefined {
  const found = end.exec(name);
  return found ? name.slice(0, found.index) : undefined;
}

function isCut(pod: string, { begin, rest }: { readonly begin: string; readonly rest: number }): boolean {
  const more = pod.length - begin.length - 5;
  return more >= 0 && more <= rest && pod.startsWith(begin) && ENDS.cut.test(pod.slice(begin.length));
}

function quoted(text: string): string {
  return text.replace(/[^0-9A-Za-z]/gu, (character) => (character === '-' ? '-' : inBrackets(character)));
}

function inBrackets(character: string): string {
  return /[\\\]^[]/.test(character) ? `\\${character}` : `[${character}]`;
}
