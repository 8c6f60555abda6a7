const SERVED = new Set(['oauth', 'kapis', 'livez', 'readyz', 'healthz']);

/**
 * Whether the plain-HTTP listener serves this target. It checks the raw text, so it refuses whatever could later be read
 * as another path: dot segments, encoded ones too, and absolute targets.
 */
export function isServedInPlain(target: string): boolean {
  const path = target.replace(/[?#][^]*$/, '');
  const [root, first = '', ...rest] = path.split('/');
  if (root !== '' || !SERVED.has(first)) return false;
  return rest.every((segment) => !/^(?:\.|%2e){1,2}$/i.test(segment) && !segment.includes('\\'));
}
