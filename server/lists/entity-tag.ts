// Entity tags of responses under `/kapis`: the tag of each page of a list, the header `ETag`, and the response 304 to a
// matching `If-None-Match`.
import { createHash } from 'node:crypto';
import type { ObjectIdentity } from '../cache/resource-cache.ts';
import type { TimeSlices } from '../concurrency/time-slicer.ts';
import { JSON_HEADERS, matchesTag } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Headers } from './platform-body.ts';
import type { PlatformItem } from './platform-item.ts';

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

/** Objects between checks of the time slice. */
const STEPS = 256;

/** Returns the quoted tag of a page. It depends on the objects of the page in their order, and on `more`. */
export async function pageTag<Facts>(
  item: PlatformItem<Facts>,
  objects: readonly ObjectIdentity<Facts>[],
  more: readonly unknown[],
  slices: TimeSlices,
): Promise<string> {
  const tag = createHash('sha256').update(JSON.stringify(more));
  for (let at = 0; at < objects.length; at += STEPS) {
    const states = objects.slice(at, at + STEPS).map((object) => item.state(object));
    tag.update(`${states.join()},`);
    if (slices.spent) await slices.next();
  }
  return `"${tag.digest('base64url')}"`;
}
