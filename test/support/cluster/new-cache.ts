import { InformerCache } from '../../../server/cache/informer-cache.ts';
import { THINGS } from './raw-objects.ts';

/** Returns an informer cache with small limits, without a cluster. `now`: clock in ms. */
export function newCache(
  now = () => 0,
  history = { snapshots: 5, ageMs: 1000, bytes: 1e9 },
): InformerCache<{ readonly size: number }> {
  return new InformerCache({
    definition: THINGS,
    log: { info: () => undefined, warn: () => undefined },
    window: { events: 100, ageMs: 1000, bytes: 1e9 },
    history,
    probe: () => Promise.resolve(),
    waitMs: 50,
    now,
  });
}
