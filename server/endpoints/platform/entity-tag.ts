// Entity tags of responses under `/kapis`: the headers, and the response 304 for a client that has the content.
import type { RequestContext } from '../../request/request-context.ts';
import { JSON_HEADERS, matchesTag } from '../response.ts';
import type { Headers } from './platform-body.ts';

/** The tag is weak, because equal objects can have a different resourceVersion of the list or a different encoding. */
export function headersWith(tag: string): Headers {
  return { ...JSON_HEADERS, ETag: `W/${tag}` };
}

/** Writes 304 and returns true if the client has the content. `tag`: quoted. */
export function respondedNotModified({ request, response }: RequestContext, tag: string): boolean {
  if (!matchesTag(request.headers['if-none-match'], tag)) return false;
  response.writeHead(304, {
    'Cache-Control': JSON_HEADERS['Cache-Control'],
    Vary: JSON_HEADERS.Vary,
    ETag: `W/${tag}`,
  });
  response.end();
  return true;
}
