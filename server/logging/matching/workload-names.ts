// Which pods belong to a workload, told by their names: stores keep the name of the pod and not that of its owner, which
// may be long gone.

/** The letters that Kubernetes takes for random suffixes and hashes. */
const RANDOM = '[b-df-hj-np-tv-xz2456789]';
/** A generated name is its prefix, cut to this length, and five random letters. */
const LONGEST_BEGIN = 58;
const LONGEST_HASH = 10;

/**
 * A regular expression over the whole name of a pod; literals, `[…]`, `(…|…)`, `{m,n}` and, for `contains`, `*`.
 * `exact`: pods of a Deployment, ReplicaSet, StatefulSet, DaemonSet, Job or CronJob with one of the names.
 * `contains`: of one that has one of the texts in its name; where Kubernetes had to cut the name, in what is left of it.
 */
export function podPattern(workloads: readonly string[], how: 'exact' | 'contains'): string {
  return workloads.map(how === 'exact' ? named : containing).join('|');
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

function named(workload: string): string {
  const name = quoted(workload);
  if (workload.length + 1 + LONGEST_HASH + 1 <= LONGEST_BEGIN) return `${name}(${SUFFIX})`;
  const begin = `${workload}-`.slice(0, LONGEST_BEGIN);
  const rest = LONGEST_BEGIN - begin.length;
  return `${name}(${SUFFIX})|${quoted(begin)}[0-9a-z-]{0,${rest}}${RANDOM}{5}`;
}

function containing(text: string): string {
  return `[0-9a-z.-]*${quoted(text.toLowerCase())}[0-9a-z.-]*(${SUFFIX})`;
}

/** Names hold letters, digits, hyphens and dots; whatever else is asked for stands for itself. */
function quoted(text: string): string {
  return text.replace(/[^0-9A-Za-z]/gu, (character) => (character === '-' ? '-' : inBrackets(character)));
}

function inBrackets(character: string): string {
  return /[\\\]^[]/.test(character) ? `\\${character}` : `[${character}]`;
}
