// One request as handlers see it: its path taken apart, its caller, its body. The filters fill it in, and whatever
// answers reads it; neither what a caller may do nor what is answered is decided here.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { UserInfo } from '../authentication/user.ts';
import type { RequestInfo } from './request-info.ts';

/** What the filters learn of one request, in the order of the chain; handlers only read it. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Parsed when first read. */
  readonly query: URLSearchParams;
  /** The aggregator's `Audit-Id` or a new one: the request id in logs and answers. */
  readonly auditID: string;
  readonly secure: boolean;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The same in ms of a clock that never goes back: times that pass are taken from it. */
  readonly startedAt: number;
  readonly log: Logger;
  /** Aborted when the client goes away, the deadline passes or the server stops. */
  readonly signal: AbortSignal;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** Present when the request asks for another protocol (WebSocket, SPDY). Until accepted, `response` answers it. */
  readonly upgrade: Upgrade | undefined;
}

export interface Upgrade {
  /** The bytes that came behind the request's headers. */
  readonly head: Buffer;
  /** Takes the socket over from HTTP; from here on the handler answers for it, beginning with the 101. */
  accept(): Duplex;
}

/** A handler at the end of the chain: decode, call, encode. It throws StatusErrors; it writes none. */
export type Handler = (context: RequestContext) => Promise<void> | void;
