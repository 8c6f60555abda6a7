// One request and its response in the filter chain. Filters write to it; handlers read it as a RequestContext. Query, signal
// and logger are created on first use, because a get of one object needs none of them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { ANONYMOUS, type UserInfo } from '../authentication/user.ts';
import type { Decision } from '../authorization/authorizer.ts';
import { plainAddress } from '../request/plain-address.ts';
import type { RequestContext, Upgrade } from '../request/request-context.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { pathIn, searchIn } from '../request/request-path.ts';

const UNPARSED: RequestInfo = { isResourceRequest: false, path: '', verb: '' };

export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly secure: boolean;
  readonly upgrade: Upgrade | undefined;
}

export class Exchange implements RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly secure: boolean;
  readonly upgrade: Upgrade | undefined;
  /** The address of the client. A closed socket has none. */
  readonly source: string | undefined;
  readonly receivedAt: number;
  readonly startedAt: number;
  auditID = '';
  info: RequestInfo = UNPARSED;
  user: UserInfo = ANONYMOUS;
  /** False until authentication has succeeded; `user` is meaningless before. */
  authenticated = false;
  longRunning = false;
  decision: Decision | undefined;
  /** The first error, for the log. */
  error: unknown;
  /** The status without a response: 101 after an upgrade, 499 when the client disconnected. 0 for none. */
  statusOverride = 0;
  ended = false;
  /** Owned by OpenExchanges. */
  place = -1;
  readonly #logger: Logger;
  readonly #endings: ((exchange: Exchange) => void)[] = [];
  #log: Logger | undefined;
  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;
  #abortReason: unknown;
  #aborted = false;

  constructor(arrival: Arrival, logger: Logger, receivedAt: number, startedAt: number) {
    this.request = arrival.request;
    this.response = arrival.response;
    this.secure = arrival.secure;
    this.upgrade = arrival.upgrade;
    const { remoteAddress } = arrival.request.socket;
    this.source = remoteAddress === undefined ? undefined : plainAddress(remoteAddress);
    this.receivedAt = receivedAt;
    this.startedAt = startedAt;
    this.#logger = logger;
  }

  /** Without the query. Decoded, unless the request was rejected before its path was parsed. */
  get path(): string {
    return this.info.path || pathIn(this.request.url ?? '');
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(searchIn(this.request.url ?? ''));
    return this.#query;
  }

  get log(): Logger {
    this.#log ??= this.#logger.child({ requestID: this.auditID });
    return this.#log;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get status(): number {
    return this.statusOverride === 0 ? this.response.statusCode : this.statusOverride;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  /** Adds a listener that is called once, when the response is complete or the connection is closed. */
  onEnd(ending: (exchange: Exchange) => void): void {
    this.#endings.push(ending);
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    for (const ending of this.#endings) {
      try {
        ending(this);
      } catch (error) {
        this.log.error({ err: error }, 'end-of-request listener failed');
      }
    }
  }
}

/**
 * A step of the chain. It throws the error for the error writer. A synchronous filter returns nothing, and the next one runs
 * at once.
 */
export type Filter = (exchange: Exchange) => Promise<void> | void;

/** The members that OpenExchanges needs. */
export interface Placed {
  /** Owned by OpenExchanges. */
  place: number;
}

/**
 * The open requests, in no order. An array, because a Set allocates whenever one of a few members is deleted, which costs 1
 * to 2 µs of the 35 µs of a get of one object.
 */
export class OpenExchanges<Item extends Placed> {
  readonly #list: Item[] = [];

  get size(): number {
    return this.#list.length;
  }

  add(item: Item): void {
    item.place = this.#list.push(item) - 1;
  }

  /** Ignores an item that is not in the list. */
  delete(item: Item): void {
    if (this.#list[item.place] !== item) return;
    const last = this.#list.pop();
    if (last === undefined || last === item) return;
    this.#list[item.place] = last;
    last.place = item.place;
  }

  /** A copy, because reading may end some requests. */
  all(): readonly Item[] {
    return [...this.#list];
  }
}
