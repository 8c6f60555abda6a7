// Sends searches to the store: over the indices of a time, or over a point in time. Owns the form of the request; callers
// decide what is asked, search-answer.ts reads the answer.
import { Turns } from '../../../../concurrency/turns.ts';
import { forget } from '../../../../memory/forgotten.ts';
import type { Call } from '../../../log-store.ts';
import { newSearchRefused } from '../../../store-errors.ts';
import { type AskedAgain, askedAgainWhileBusy } from '../connection/busy-store.ts';
import { type Body, bodyText, type Connection, type StoreRequest } from '../connection/connection.ts';
import { valid } from '../connection/json-reader.ts';
import { STORE } from '../connection/store-name.ts';
import { type ByteRange, LongAnswer, ownBytes } from './long-answer.ts';
import { NO_ANSWER, readAnswer, type SearchAnswer } from './search-answer.ts';
import { ShardCounts } from './shard-counts.ts';

export type SearchBody = Readonly<Record<string, unknown>>;

export interface SearchCall extends Call {
  /** What the answer is of no use without: it waits for that as bytes, since what is parsed early gets old. */
  readonly beside?: Promise<unknown>;
  /** Members of the answer that nobody reads, as `filter_path` names them. */
  readonly omitted?: string | undefined;
}

interface Question extends Pick<AskedAgain, 'isOfLines'> {
  /** Made anew for each attempt, since it tells the store how much time is left. */
  readonly request: (call: SearchCall) => StoreRequest;
}

/** Missing indices hold nothing; that is not an error. */
export const LENIENT = { ignore_unavailable: 'true', allow_no_indices: 'true' } as const;

/** The store gets a little less time than the caller has, so that what it found by then still arrives. */
const STORE_SHARE = 0.9;

export interface SearchesOptions {
  readonly connection: Connection;
  readonly turns?: Turns | undefined;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** Of some copies of the shards. */
  readonly preference?: string;
  /** The first of two before a store is asked again that has too much to do. */
  readonly busyPauseMs?: number | undefined;
}

export class Searches {
  readonly #options: SearchesOptions;
  readonly #connection: Connection;
  readonly #turns: Turns;
  readonly #shards: ShardCounts;
  readonly #query: Readonly<Record<string, string>>;

  constructor(options: SearchesOptions) {
    const { connection, turns = new Turns(), now, preference } = options;
    this.#options = { ...options, turns };
    this.#connection = connection;
    this.#turns = turns;
    this.#shards = new ShardCounts(now);
    this.#query = preference === undefined ? LENIENT : { ...LENIENT, preference };
  }

  /** The same, by the same copies of the shards each time for the same text: one may know lines that another does not. */
  preferring(preference: string): Searches {
    return new Searches({ ...this.#options, preference });
  }

  /** `indices`: part of a path; there need not be any. `after`: JSON of `search_after`. */
  async searchIndices(
    indices: string,
    body: SearchBody,
    call: SearchCall,
    after?: string,
  ): Promise<SearchAnswer> {
    const answer = await this.#ask(this.#question(indices, body, after), call, readAnswer);
    return answer ?? NO_ANSWER;
  }

  /** The same; throws newSearchRefused() where some of them were closed or deleted since the last time. */
  async searchUnchanged(
    indices: string,
    body: SearchBody,
    call: SearchCall,
    after?: string,
  ): Promise<SearchAnswer> {
    const isWhole = this.#shards.watch(indices);
    const answer = await this.searchIndices(indices, body, call, after);
    if (isWhole(answer.shards)) return answer;
    throw newSearchRefused(STORE, new Error('some of its indices were closed or deleted meanwhile'));
  }

  /** Within the body's point in time, for many hits, of which `read` reads some; undefined when it is gone. */
  async searchMany(body: SearchBody, call: Call, after?: string): Promise<LongAnswer | undefined> {
    const pieces = await this.#send(this.#question(undefined, body, after), call);
    if (!pieces) return undefined;
    // At once: pieces that wait for a turn become old, and their memory comes back late.
    const bytes = ownBytes(pieces);
    await this.#turns.next();
    return new LongAnswer(bytes);
  }

  read(answer: LongAnswer, part: ByteRange): Promise<SearchAnswer> {
    return this.#read(() => answer.text(part), readAnswer);
  }

  /** Undefined for 404. What cannot be read is a store that does not answer as it should. */
  async ask<T>(request: StoreRequest, call: SearchCall, read: (text: string) => T): Promise<T | undefined> {
    return this.#ask({ request: () => request, isOfLines: false }, call, read);
  }

  async #ask<T>(question: Question, call: SearchCall, read: (text: string) => T): Promise<T | undefined> {
    const pieces = await this.#send(question, call);
    await call.beside;
    return pieces && this.#read(() => textFrom(pieces), read);
  }

  /** Not in one go with what made the question: either takes some tenths of a millisecond. */
  #send({ request, isOfLines }: Question, call: SearchCall): Promise<Body | undefined> {
    const { now, busyPauseMs: firstPauseMs } = this.#options;
    return askedAgainWhileBusy(call, { isOfLines, now, firstPauseMs }, async (rest) => {
      const made = request(rest);
      await this.#turns.next();
      return this.#connection.request(made, rest);
    });
  }

  /** Nor in one go with what is made of the answer. */
  async #read<T>(text: () => string, read: (text: string) => T): Promise<T> {
    await this.#turns.next();
    const answer = valid(() => read(text()));
    await this.#turns.next();
    return answer;
  }

  #question(indices: string | undefined, body: SearchBody, after: string | undefined): Question {
    return {
      request: (call) => this.#request(indices, body, call, after),
      isOfLines: body['size'] !== 0,
    };
  }

  #request(
    indices: string | undefined,
    body: SearchBody,
    call: SearchCall,
    after: string | undefined,
  ): StoreRequest {
    const query = call.omitted === undefined ? this.#query : { ...this.#query, filter_path: call.omitted };
    const json = JSON.stringify({ ...body, timeout: `${storeTime(call.timeoutMs)}ms` });
    return {
      method: 'POST',
      path: indices === undefined ? '/_search' : `/${indices}/_search`,
      ...(indices === undefined ? {} : { query }),
      body: after === undefined ? json : `${json.slice(0, -1)},"search_after":${after}}`,
    };
  }
}

/** The pieces are gone then. */
function textFrom(pieces: Body): string {
  const text = bodyText(pieces);
  forget(pieces);
  return text;
}

/**
 * Whole ms, of which three digits count: stores keep what they counted in an index until it changes, for who asks for it
 * in the very same words.
 */
function storeTime(timeoutMs: number): number {
  const ms = Math.max(1, Math.floor(timeoutMs * STORE_SHARE));
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(ms)) - 2);
  return Math.floor(ms / unit) * unit;
}
