// HTTP response with default headers that handlers can override.
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';

// Not an import, which would also load the undici of Node.
const http = process.getBuiltinModule('node:http');

/** Alternates names and values. */
type DefaultHeaders = readonly string[];

/**
 * Adds the default headers in writeHead. With setHeader, Node would collect all headers of each response in an object first, which
 * takes a tenth of the JavaScript time of a get request.
 */
export class ApiResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends http.ServerResponse<Request> {
  defaultHeaders: DefaultHeaders = [];

  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    let given = typeof reason === 'string' ? headers : reason;
    if (Array.isArray(given) || this.getHeaderNames().length > 0) setMissing(this, this.defaultHeaders);
    else given = merged(given ?? {}, this.defaultHeaders);
    return typeof reason === 'string'
      ? super.writeHead(status, reason, given)
      : super.writeHead(status, given);
  }
}

/** Returns an array, because Node reads the headers of an array faster than those of an object. */
function merged(given: OutgoingHttpHeaders, defaults: DefaultHeaders): OutgoingHttpHeader[] {
  const all: OutgoingHttpHeader[] = [];
  for (let i = 0; i < defaults.length; i += 2) {
    const name = defaults[i] ?? '';
    if (!hasHeader(given, name)) all.push(name, defaults[i + 1] ?? '');
  }
  for (const name in given) {
    const value = given[name];
    if (value !== undefined) all.push(name, value);
  }
  return all;
}

function hasHeader(headers: OutgoingHttpHeaders, wanted: string): boolean {
  for (const name in headers) {
    if (name.length === wanted.length && name.toLowerCase() === wanted.toLowerCase()) return true;
  }
  return false;
}

function setMissing(response: ServerResponse, headers: DefaultHeaders): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    if (!response.hasHeader(name)) response.setHeader(name, headers[i + 1] ?? '');
  }
}

/** Sets headers that the handler of the response can override. */
export function setDefaultHeaders(response: ServerResponse, headers: DefaultHeaders): void {
  if (response instanceof ApiResponse) response.defaultHeaders = headers;
  // The response of an upgrade request.
  else setMissing(response, headers);
}
