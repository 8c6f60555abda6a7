// One request on its way through the chain. The filters write to it, handlers see it as a RequestContext. What few
// requests need (query, signal, logger) is made when it is first read: a GET of one object needs none of it.
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
  /** The address of the other side; kept, because a socket that is closed no longer knows it. */
  readonly source: string | undefined;
  readonly receivedAt: number;
  readonly startedAt: number;
  auditID = '';
  info: RequestInfo = UNPARSED;
  user: UserInfo = ANONYMOUS;
  /** False until authentication has succeeded; until then `user` says nothing. */
  authenticated = false;
  longRunning = false;
  decision: Decision | undefined;
  /** What the error writer was given, for the log. */
  error: unknown;
  /** The status of an answer that did not go through `response`: 101, or 499 when the client left before one. */
  statusOverride = 0;
  ended = false;
  /** Where it stands among those that are open. */
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

  /** Without the query: decoded, or as it came in a request that was refused before its path was read. */
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

  /** Called once, when the answer is complete or the connection is gone. One that fails does not keep the others. */
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
        this.log.error({ err: error }, 'the end of a request was not fully recorded');
      }
    }
  }
}

/**
 * A step of the chain. It throws what the error writer is to answer; a step with nothing to wait for returns
 * nothing, and the next one runs at once.
 */
export type Filter = (exchange: Exchange) => Promise<void> | void;
