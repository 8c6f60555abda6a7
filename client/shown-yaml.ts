// The YAML of an object as kube-apiserver encodes it, without the parts that the user has not requested. Only lines are left out or
// replaced, so that all digits and the order stay.

export interface ShownParts {
  readonly managedFields: boolean;
  /** The values of a Secret. */
  readonly secrets: boolean;
}

export const HIDDEN = '••••••';
/** kubectl stores the applied object in it, for a Secret with its values. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Number of levels of keys that matter, as in `metadata.annotations.KEY`. */
const LEVELS = 3;
const ITEM = /^(?:- |-$|: )/;

export function shownYAML(yaml: string, isSecret: boolean, shown: ShownParts): string {
  const kept: string[] = [];
  // The keys that a line belongs to.
  let path: readonly string[] = [];
  for (const line of yaml.split('\n')) {
    const indent = line.search(/[^ ]/);
    const level = indent / 2;
    // Any other line continues the value of the key before: a list, or a text of several lines, which have a deeper indent.
    const isKey =
      Number.isInteger(level) &&
      level >= 0 &&
      level <= Math.min(path.length, LEVELS - 1) &&
      !ITEM.test(line.slice(indent));
    if (isKey) path = [...path.slice(0, level), keyOf(line)];
    if (!shown.managedFields && path[0] === 'metadata' && path[1] === 'managedFields') continue;
    const secret = isSecret && !shown.secrets ? secretLevel(path) : undefined;
    if (secret === undefined) kept.push(line);
    else if (isKey && path.length === secret) kept.push(`${'  '.repeat(level)}${keyOf(line)}: ${HIDDEN}`);
  }
  return kept.join('\n');
}

/** The number of keys that lead to the secret value that a line belongs to; undefined for no secret value. */
function secretLevel([top, second, third]: readonly string[]): number | undefined {
  if (top === 'data' || top === 'stringData') return second === undefined ? undefined : 2;
  return top === 'metadata' && second === 'annotations' && third === LAST_APPLIED ? LEVELS : undefined;
}

function keyOf(line: string): string {
  const text = line.trimStart().replace(/^\? /, '');
  const [quoted] = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(text) ?? [];
  // With `s`, the first colon before a space ends the search, also in a line with U+2028, at which `.` would stop.
  return quoted ?? text.replace(/:(?:\s.*)?$/s, '');
}
