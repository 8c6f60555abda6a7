// StatusError: a response with an error, as the Status object of Kubernetes. ConnectionError: no complete response.
import type { Status } from './generated/platform.ts';

/** One validation error of a request. */
export interface StatusCause {
  /** The invalid parameter, or the invalid member of the object. */
  readonly field?: string;
  readonly message?: string;
  readonly reason?: string;
}

/** The server responded with an error. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  /** The HTTP status. */
  readonly code: number;
  /** For programs, for example `NotFound`; empty if the response has none. */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Seconds until a retry can succeed, of responses with 429 and 503. */
  readonly retryAfter: number | undefined;
  /** The Status object of the response, which a proxy or an aggregated API can have sent in any form. If the response has none, its `message` is the text of the response. */
  readonly status: StatusObject;

  constructor(status: StatusObject, retryAfter?: number) {
    super(textOf(status.message));
    this.status = status;
    this.code = numberOf(status.code) ?? 500;
    this.reason = textOf(status.reason);
    this.causes = causesOf(status.details?.causes);
    this.retryAfter = retryAfter ?? numberOf(status.details?.retryAfterSeconds);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

function causesOf(value: unknown): StatusCause[] {
  return Array.isArray(value) ? value.filter((cause) => typeof cause === 'object' && cause !== null) : [];
}

/** A Status of this server, or of kube-apiserver, whose reasons are more. All members can be absent. */
export interface StatusObject extends Partial<Omit<Status, 'reason' | 'details'>> {
  readonly reason?: string;
  readonly details?: Omit<NonNullable<Status['details']>, 'causes'> & {
    readonly causes?: readonly StatusCause[];
  };
}

/** The server is unreachable, or the connection was lost before the end of the response. A retry can succeed. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** Whether a retry can help: the connection failed, the server is overloaded, or it is unavailable. */
export function isTemporary(error: unknown): error is Error {
  if (error instanceof StatusError) return error.code === 408 || error.code === 429 || error.code >= 500;
  // `fetch` of a token source throws a TypeError if the server is unreachable.
  return error instanceof ConnectionError || error instanceof TypeError;
}

/** Maximum of characters of a message that is no Status. */
const MAX_MESSAGE = 1000;

/** Reads the error of a response. */
export async function errorOf(response: Response, what: string): Promise<StatusError> {
  const text = await response.text();
  const message = messageIn(response, text) || `${what} returned ${response.status} ${response.statusText}`;
  const status = statusIn(text) ?? { message };
  return new StatusError({ ...status, code: response.status }, retryAfter(response.headers));
}

function statusIn(text: string): StatusObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isStatus(value: unknown): value is StatusObject {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}

/** Plain text is a message. A page of a proxy is not. */
function messageIn(response: Response, text: string): string {
  const isPlain = response.headers.get('Content-Type')?.startsWith('text/plain') === true;
  return isPlain ? text.slice(0, MAX_MESSAGE).trim() : '';
}

/** Seconds of the header Retry-After, which is a number of seconds or a date of the server's clock. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After');
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const until = Date.parse(value);
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  return Number.isNaN(until) ? undefined : Math.max(0, Math.ceil((until - now) / 1000));
}
