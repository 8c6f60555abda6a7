// A point in time: what an export reads stays the same while it reads. OpenSearch and Elasticsearch have different paths
// for it; which of them works is found out by trying. Whoever opens one closes it.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { isTimeout } from '../../../../../apis/meta/v1/errors.ts';
import { optionalText } from '../../../../../apis/reading/unknown-value.ts';
import type { Call } from '../../../log-store.ts';
import { isSearchRefused, newStoreUnavailable } from '../../../store-errors.ts';
import { objectOf } from './json-reader.ts';
import { isUnknownRequest } from './refusal.ts';
import { missingShards } from './search-answer.ts';
import { LENIENT, type Searches } from './searches.ts';
import { STORE } from './store-name.ts';

/** Renewed by each page: a reader slower than this loses the rest. */
export const KEEP_ALIVE = '5m';
/** Until the first page: where this process dies before, nobody closes it, and a store has but some hundreds of them. */
const FIRST_KEEP_ALIVE = '30s';
/** How long the id of one is waited for whose reader has left; it takes the store some milliseconds to tell. */
const LATE_ID_MS = 1_000;
const CLOSE_MS = 5_000;

interface Flavour {
  readonly open: (indices: string) => string;
  readonly query: Readonly<Record<string, string>>;
  readonly id: string;
  readonly close: { readonly path: string; readonly body: (id: string) => unknown };
}

const ELASTICSEARCH: Flavour = {
  open: (indices) => `/${indices}/_pit`,
  query: { ignore_unavailable: 'true' },
  id: 'id',
  close: { path: '/_pit', body: (id) => ({ id }) },
};

const FLAVOURS: readonly Flavour[] = [
  {
    open: (indices) => `/${indices}/_search/point_in_time`,
    query: LENIENT,
    id: 'pit_id',
    close: { path: '/_search/point_in_time', body: (id) => ({ pit_id: [id] }) },
  },
  // Since 8.16; before, none is opened where a shard is away.
  { ...ELASTICSEARCH, query: { ...ELASTICSEARCH.query, allow_partial_search_results: 'true' } },
  ELASTICSEARCH,
];

export interface PointInTime {
  readonly id: string;
  /** What is not in it, and so in none of the answers either. */
  readonly shortfalls: readonly Shortfall[];
  /** The id that the last answer gave; the store may change it. */
  renew(id: string | undefined): void;
  /** Never throws: what can not be closed ends by itself, at the latest after KEEP_ALIVE. */
  close(): Promise<void>;
}

export class PointsInTime {
  readonly #searches: Searches;
  /** The one that answered; the others are not asked again. */
  #flavour: Flavour | undefined;
  #mayClose = true;

  constructor(searches: Searches) {
    this.#searches = searches;
  }

  /** Whether the store let this server close the last one; what is left takes the place of others until it ends. */
  get mayClose(): boolean {
    return this.#mayClose;
  }

  /** Undefined where there are no indices. */
  async open(indices: string, call: Call): Promise<PointInTime | undefined> {
    const refusals: unknown[] = [];
    for (const flavour of this.#flavour ? [this.#flavour] : FLAVOURS) {
      try {
        const point = await this.#openAs(flavour, indices, call);
        if (point === undefined) continue;
        this.#flavour = flavour;
        return point;
      } catch (error) {
        // A store that is silent is so whatever it is asked.
        if (call.signal.aborted || isTimeout(error)) throw error;
        refusals.push(error);
      }
    }
    // Of a path that the store does not know, the log need not be told.
    if (refusals.length > 0) throw refusals.find((each) => !isUnknownRequest(each)) ?? refusals[0];
    return undefined;
  }

  /** What a caller who leaves has begun to open is closed as soon as the store has told its id. */
  async #openAs(flavour: Flavour, indices: string, call: Call): Promise<PointInTime | undefined> {
    call.signal.throwIfAborted();
    const over = new AbortController();
    const opening = this.#searches
      .ask(
        {
          method: 'POST',
          path: flavour.open(indices),
          query: { ...flavour.query, keep_alive: FIRST_KEEP_ALIVE },
          repeatable: false,
        },
        { signal: over.signal, timeoutMs: call.timeoutMs },
        (text) => openedIn(text, flavour),
      )
      .then((opened) => opened && this.#opened(flavour, opened));
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = (): void => {
      reject(call.signal.reason as Error);
      const timer = setTimeout(() => over.abort(), LATE_ID_MS);
      opening
        .then(
          (point) => point?.close(),
          () => undefined,
        )
        .finally(() => clearTimeout(timer));
    };
    call.signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([opening, left]);
    } finally {
      call.signal.removeEventListener('abort', leave);
    }
  }

  #opened(flavour: Flavour, { id: first, shortfalls }: Opened): PointInTime {
    let id = first;
    const close = async (): Promise<void> => {
      // Not the caller's signal: it is often aborted because the caller has left.
      const call: Call = { signal: new AbortController().signal, timeoutMs: CLOSE_MS };
      const { path, body } = flavour.close;
      try {
        await this.#searches.ask(
          { method: 'DELETE', path, body: JSON.stringify(body(id)) },
          call,
          () => undefined,
        );
        this.#mayClose = true;
      } catch (error) {
        // It expires.
        this.#mayClose = !isSearchRefused(error);
      }
    };
    return {
      get id() {
        return id;
      },
      shortfalls,
      renew(next) {
        if (next !== undefined && next !== '') id = next;
      },
      close,
    };
  }
}

type Opened = Pick<PointInTime, 'id' | 'shortfalls'>;

function openedIn(text: string, flavour: Flavour): Opened {
  const answer = objectOf(JSON.parse(text), 'the answer');
  const id = optionalText(answer[flavour.id]);
  if (id === undefined) throw new Error('a point in time has no id');
  // Elasticsearch tells nothing of shards before 8.16.
  return { id, shortfalls: answer['_shards'] === undefined ? [] : missingShards(answer) };
}

class LostPointError extends Error {}

/** The reader was slower than KEEP_ALIVE, an index was deleted, or the store was started anew. */
export function lostPoint(): Error {
  return newStoreUnavailable(STORE, new LostPointError('the point in time is gone'));
}

export function isLostPoint(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof LostPointError;
}
