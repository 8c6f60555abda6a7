// A point in time: what an export reads stays the same while it reads. OpenSearch and Elasticsearch have different paths
// for it; which of them works is found out by trying. Whoever opens one closes it.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { isTimeout } from '../../../../../apis/meta/v1/errors.ts';
import { optionalText } from '../../../../../apis/reading/unknown-value.ts';
import { UnfitOptionError } from '../../../configuration-errors.ts';
import type { Call } from '../../../log-store.ts';
import { isSearchRefused, newStoreUnavailable } from '../../../store-errors.ts';
import { objectOf } from '../connection/json-reader.ts';
import {
  areNoPointsLeft,
  NO_POINTS_LEFT,
  newNoPointsLeft,
  UnfitForPointsError,
} from '../connection/known-refusals.ts';
import { isUnknownRequest } from '../connection/refusal.ts';
import { STORE } from '../connection/store-name.ts';
import type { LongAnswer } from './long-answer.ts';
import { missingShards } from './search-answer.ts';
import { LENIENT, type SearchBody, type Searches } from './searches.ts';

/** Renewed by each page: a reader slower than this loses the rest. */
const KEEP_ALIVE = '5m';
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
  /** What is not in it, and so in none of the answers either. */
  readonly shortfalls: readonly Shortfall[];
  /** Searches what it holds. Throws an error that isLostPoint() when it is gone. */
  searchMany(body: SearchBody, call: Call, after: string | undefined): Promise<LongAnswer>;
  /** The id that the last answer gave; the store may change it. */
  renew(id: string | undefined): void;
  /** Never throws: what cannot be closed ends by itself, at the latest after KEEP_ALIVE. */
  close(): Promise<void>;
}

export class PointsInTime {
  readonly #searches: Searches;
  /** The one that answered; the others are not asked again. */
  #flavour: Flavour | undefined;
  #isLeftOpen = false;
  #unfit: UnfitOptionError | undefined;

  constructor(searches: Searches) {
    this.#searches = searches;
  }

  /** What keeps exports from working as they should, as the last one found out. */
  get fault(): UnfitOptionError | undefined {
    return this.#isLeftOpen ? leftOpen() : this.#unfit;
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
        this.#learn(error);
        // A store that is silent, or has no room, is so whatever it is asked.
        if (call.signal.aborted || isTimeout(error) || areNoPointsLeft(error)) throw error;
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
      .then((opened) => opened && this.#whole(flavour, opened));
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

  #learn(error: unknown): void {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof UnfitForPointsError) this.#unfit = cause;
  }

  /** An export that could only have a part, for want of room, is none: of a shorter time, or later, it may be whole. */
  async #whole(flavour: Flavour, opened: Opened): Promise<PointInTime> {
    const point = this.#opened(flavour, opened);
    if (opened.hasRoom) return point;
    await point.close();
    throw newNoPointsLeft(new Error('some of the shards had no room for a point in time'));
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
        this.#isLeftOpen = false;
      } catch (error) {
        // It expires.
        this.#isLeftOpen = isSearchRefused(error);
      }
    };
    return {
      shortfalls,
      searchMany: async (body, call, after) => {
        const pit = { id, keep_alive: KEEP_ALIVE };
        try {
          const answer = await this.#searches.searchMany({ ...body, pit }, call, after);
          this.#unfit = undefined;
          if (!answer) throw lostPoint();
          return answer;
        } catch (error) {
          this.#learn(error);
          throw error;
        }
      },
      renew(next) {
        if (next !== undefined && next !== '') id = next;
      },
      close,
    };
  }
}

interface Opened extends Pick<PointInTime, 'shortfalls'> {
  readonly id: string;
  readonly hasRoom: boolean;
}

function openedIn(text: string, flavour: Flavour): Opened {
  const answer = objectOf(JSON.parse(text), 'the answer');
  const id = optionalText(answer[flavour.id]);
  if (id === undefined) throw new Error('a point in time has no id');
  // Elasticsearch tells nothing of shards before 8.16.
  const shortfalls = answer['_shards'] === undefined ? [] : missingShards(answer);
  return { id, shortfalls, hasRoom: !NO_POINTS_LEFT.test(text) };
}

/** What is left takes the place of others until it ends. */
function leftOpen(): UnfitOptionError {
  const reason = 'its user has to be granted indices:data/read/point_in_time/delete';
  const effect = 'exports leave points in time behind, of which the store has room for some hundreds';
  return new UnfitOptionError('logging.opensearch', reason, effect);
}

class LostPointError extends Error {}

/** The reader was slower than KEEP_ALIVE, an index was deleted, or the store was started anew. */
function lostPoint(): Error {
  return newStoreUnavailable(STORE, new LostPointError('the point in time is gone'));
}

export function isLostPoint(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof LostPointError;
}
