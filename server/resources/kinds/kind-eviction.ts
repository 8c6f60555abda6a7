// Selects the kind that is stopped in favour of another one. Callers share the number of followed kinds.
import { groupOf } from '../../admission/network.ts';
import type { FollowedKind } from './followed-kind.ts';

type EvictableKind = Pick<FollowedKind, 'startedBy' | 'liveLists' | 'watchers' | 'usedAt'>;

/**
 * Returns the kind that the caller displaces: one of the caller who started the most, without live lists and watches if possible, and
 * the least recently used one. A kind with live lists is followed again at once, so only a caller who will still have fewer displaces it.
 * A caller to whom the kind is not required, because kube-apiserver serves the request, displaces only kinds of such callers. The
 * kinds that the server itself follows are the last ones.
 */
export function kindToEvict<Evictable extends EvictableKind>(
  kinds: readonly Evictable[],
  caller: string,
  isRequired: boolean,
): Evictable | undefined {
  const groups = Map.groupBy(kinds, ({ startedBy }) => groupOf(startedBy));
  const weightOf = (name: string): number => (name === '' ? 0 : (groups.get(groupOf(name))?.length ?? 0));
  const own = weightOf(caller);
  const isEvictable = ({ startedBy, liveLists }: Evictable): boolean => {
    const weight = weightOf(startedBy);
    return weight > own + 1 || (isRequired && liveLists === 0 && weight >= own);
  };
  const [first] = kinds
    .filter(isEvictable)
    .sort(
      (a, b) => weightOf(b.startedBy) - weightOf(a.startedBy) || costOf(a) - costOf(b) || a.usedAt - b.usedAt,
    );
  return first;
}

/** kube-apiserver continues a watch, but not a live list. */
function costOf({ liveLists, watchers }: EvictableKind): number {
  return liveLists > 0 ? 2 : Number(watchers > 0);
}
