// Fills the caches of responses of the server, which have a fixed maximum. The load alone would fill them in half an hour, and its memory
// would grow until then.
import type { Client } from '../control-plane/client.ts';
import type { Environment, Replica } from './environment.ts';

const PODS = '/kapis/resources.platform.io/v1alpha3/pods';
/** Longer pages are not cached. */
const MAX_LENGTH = 100 << 10;
/** More than the maximum of the cache, 32 MiB. */
const TOTAL = 40 << 20;
const SORT_KEYS = ['name', 'status', 'creationTimestamp', 'node', 'restarts'];
/** Pages of each sort order. */
const PAGES = 400;

export async function fillCaches({ replicas }: Environment, signal: AbortSignal): Promise<void> {
  await Promise.all(replicas.map((replica) => fill(replica, signal)));
}

/** Requests different pages, with as many pods as a cached page can have. */
async function fill({ client }: Replica, signal: AbortSignal): Promise<void> {
  const query = `limit=${await limitOf(client, signal)}`;
  let total = 0;
  for (let page = 0; page < PAGES && total < TOTAL; page++) {
    for (const sortBy of SORT_KEYS) {
      for (const ascending of [true, false]) {
        // Facets are part of the page, and a facet of an unknown label is empty.
        const path = `${PODS}?${query}&sortBy=${sortBy}&ascending=${ascending}&facets=label:page-${page}`;
        total += (await client.expect(path, { signal }, [200])).body.length;
      }
    }
  }
}

async function limitOf(client: Client, signal: AbortSignal): Promise<number> {
  const count = 10;
  const { body } = await client.expect(`${PODS}?limit=${count}`, { signal }, [200]);
  return Math.floor((MAX_LENGTH * count) / body.length);
}
