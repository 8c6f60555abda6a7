// What a refusal of OpenSearch means: whose fault it is, and whether to try again.
import type { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { isRecord, optionalText } from '../../../../../apis/reading/unknown-value.ts';
import {
  newCredentialsRefused,
  newSearchRefused,
  newStoreBusy,
  newStoreExhausted,
  newStoreTimeout,
  newStoreUnavailable,
} from '../../../store-errors.ts';
import { objectOf } from './json-reader.ts';
import { KNOWN_REFUSALS } from './known-refusals.ts';
import { STORE } from './store-name.ts';

/** There is no such index or point in time. Any other 404 is that of an address which is none of a store. */
export function isMissing(status: number, text: string): boolean {
  return status === 404 && reasonsOf(text).some((reason) => NOT_FOUND.test(reason));
}

const NOT_FOUND = /^(?:index_not_found|search_context_missing)_exception/;

/** An index that is there, and is not searched. */
export interface RefusedIndex {
  readonly name: string;
  /** Else something blocks its reading. */
  readonly isClosed: boolean;
}

/** With the status, since the log has no use for the stack of an answer. */
class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, words: string) {
    super(`status ${status}: ${words}`);
    this.status = status;
  }
}

/** The very same may be answered in a moment, when others have got their answers. */
class BusyError extends RefusedError {
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, words: string, retryAfterSeconds: number | undefined) {
    super(status, words);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

class RefusedIndexError extends RefusedError {
  readonly index: RefusedIndex;

  constructor(status: number, words: string, index: RefusedIndex) {
    super(status, words);
    this.index = index;
  }
}

/** The index because of which a search was refused, where the store tells it: one, even when there are several. */
export function refusedIndexIn(error: unknown): RefusedIndex | undefined {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof RefusedIndexError ? cause.index : undefined;
}

/** What a store that only has too much to do at the moment says of it; undefined for everything else. */
export function loadIn(error: unknown): Pick<BusyError, 'retryAfterSeconds'> | undefined {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof BusyError ? cause : undefined;
}

/**
 * The store's message stays in the cause: it may name things that the caller must not know. `retryAfter`: the header,
 * whole seconds.
 */
export function refusal(status: number, text: string, retryAfter?: string): StatusError {
  if (status === 401) return newCredentialsRefused(STORE);
  const reasons = reasonsOf(text);
  const says = (pattern: RegExp) => reasons.some((reason) => pattern.test(reason));
  const words = reasons.slice(0, 3).join('; ') || text.slice(0, 200);
  const known = KNOWN_REFUSALS.find((refusal) => says(refusal.words));
  if (known) return known.error(new RefusedError(status, words));
  const index = refusedIndex(reasons, text);
  if (index) return newSearchRefused(STORE, new RefusedIndexError(status, words, index));
  // A breaker tells whether what takes the memory passes; nothing else says so itself.
  const isPassing = status === 429 && !/"durability"\s*:\s*"PERMANENT"/.test(text);
  const retryAfterSeconds = secondsOf(retryAfter);
  const cause = isPassing ? new BusyError(status, words, retryAfterSeconds) : new RefusedError(status, words);
  if (status === 504 || says(/^(timeout|receive_timeout_transport|task_cancelled)_exception/)) {
    return newStoreTimeout(STORE, { cause });
  }
  if (says(/^circuit_breaking_exception/)) return newStoreExhausted(STORE, cause);
  if (status === 429) return newStoreBusy(STORE, { cause, retryAfterSeconds });
  return status === 403 ? newSearchRefused(STORE, cause) : newStoreUnavailable(STORE, cause);
}

function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

/** Of a search that was begun: none of its shards answered it, since they have moved, or are busy. */
export function areAllShardsAway(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return (
    cause instanceof RefusedError &&
    (cause.status === 429 || cause.status >= 500) &&
    cause.message.includes('search_phase_execution_exception')
  );
}

function refusedIndex(reasons: readonly string[], text: string): RefusedIndex | undefined {
  const [first = ''] = reasons;
  const blocked = /^cluster_block_exception: index \[([^\]]+)\] blocked by/.exec(first)?.[1];
  if (blocked !== undefined) return { name: blocked, isClosed: false };
  if (!first.startsWith('index_closed_exception')) return undefined;
  const { error } = objectOf(JSON.parse(text), 'the answer');
  const name = isRecord(error) ? optionalText(error['index']) : undefined;
  return name === undefined ? undefined : { name, isClosed: true };
}

/** Whether the store has no such path, or no such parameter: it may be another one, or of another version. */
export function isUnknownRequest(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error && /no handler found|unrecognized parameter/.test(cause.message);
}

/** `type: reason` of the error, of its root causes and of the failed shards. */
function reasonsOf(text: string): string[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [];
  }
  const found: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (depth > 8 || found.length >= 20) return;
    if (Array.isArray(value)) for (const item of value) collect(item, depth + 1);
    if (!isRecord(value)) return;
    const [type, reason] = [optionalText(value['type']), optionalText(value['reason'])];
    if (type !== undefined) found.push(`${type}: ${reason ?? ''}`);
    for (const key of ['error', 'root_cause', 'caused_by', 'failed_shards', 'reason']) {
      collect(value[key], depth + 1);
    }
  };
  collect(body, 0);
  return found;
}
