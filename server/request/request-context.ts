// A request as handlers see it: RequestInfo, user, body and signal. Filters fill it in; handlers only read it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { UserInfo } from '../authentication/user.ts';
import type { RequestInfo } from './request-info.ts';

export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Parsed on first use. */
  readonly query: URLSearchParams;
  /** The request id in logs and responses: the aggregator's `Audit-Id`, or a new one. */
  readonly auditID: string;
  readonly secure: boolean;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The same of a monotonic clock in ms, for durations. */
  readonly startedAt: number;
  readonly log: Logger;
  /** Aborted when the client disconnects, the deadline passes or the server stops. */
  readonly signal: AbortSignal;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** Set for an upgrade request (WebSocket, SPDY). `response` is usable until it is accepted. */
  readonly upgrade: Upgrade | undefined;
}

export interface Upgrade {
  /** The bytes after the request's headers. */
  readonly head: Buffer;
  /** Takes over the socket. The handler writes everything from the 101 on. */
  accept(): Duplex;
}

/** The end of the chain. It throws StatusErrors instead of writing them. */
export type Handler = (context: RequestContext) => Promise<void> | void;
