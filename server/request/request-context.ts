// RequestContext: the request and response of a handler, with RequestInfo, user and signal. Filters set the
// properties, and handlers read the properties.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { Credential } from '../authentication/authenticator.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { RequestInfo } from './request-info.ts';

export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Parsed on first use. */
  readonly query: URLSearchParams;
  /** The request ID in logs and responses: the `Audit-Id` of the aggregator, or a new one. */
  readonly auditID: string;
  /** True on the TLS listener, false on the plain-HTTP listener. */
  readonly secure: boolean;
  /** Time of arrival, in ms since the epoch. */
  readonly receivedAt: number;
  /** Time of arrival by a monotonic clock in ms, for durations. */
  readonly startedAt: number;
  readonly log: Logger;
  /** Aborted when the client disconnects, the deadline passes or the server stops. */
  readonly signal: AbortSignal;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** The credential of the user; undefined for anonymous callers and callers behind the front proxy. */
  readonly credential?: Credential | undefined;
  /** Shares seats: the tenant of the user, or the network of an unauthenticated client. */
  readonly caller: string;
  /** Set for an upgrade request (WebSocket, SPDY). Until the upgrade is accepted, `response` can reject it. */
  readonly upgrade: Upgrade | undefined;
}

export interface Upgrade {
  /** The bytes after the request's headers. */
  readonly head: Buffer;
  /** Accepts the upgrade and returns the socket. The caller then writes the 101 response itself. */
  accept(): Duplex;
}

/** The handler at the end of the filter chain. It throws StatusErrors; the error writer sends them. */
export type Handler = (context: RequestContext) => Promise<void> | void;
