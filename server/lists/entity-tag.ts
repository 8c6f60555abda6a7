// Entity tags of responses under `/kapis`: the tag of each page of a list, the header `ETag`, and the response 304 to a
// matching `If-None-Match`.
import { createHash, hash } from 'node:crypto';
import type { ObjectFingerprints } from '../cache/object-fingerprints.ts';
import type { ObjectSnapshot } from '../cache/object-snapshot.ts';
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

/**
 * Maximum number of objects on a page whose entity tag is computed from its content, so that objects on other pages do
 * not affect it. The tag of a longer page is that of all objects.
 */
const MAX_TAGGED = 500;
/** Objects between checks of the time slice. */
const STEPS = 256;

export interface PageTagsOptions<Facts> {
  readonly item: PlatformItem<Facts>;
  readonly states: ObjectFingerprints;
  /** True if objects have computed annotations. */
  readonly isComputed: boolean;
}

export class PageTags<Facts> {
  readonly #options: PageTagsOptions<Facts>;

  constructor(options: PageTagsOptions<Facts>) {
    this.#options = options;
  }

  /** Returns the quoted tag of a page. It depends on the objects of the page, and on `more`. */
  async of(
    snapshot: ObjectSnapshot<Facts>,
    identities: readonly ObjectIdentity<Facts>[],
    more: readonly unknown[],
    slices: TimeSlices,
  ): Promise<string> {
    const { isComputed } = this.#options;
    const rest = JSON.stringify(more);
    if (identities.length <= MAX_TAGGED) {
      return `"${hash('sha256', `${rest}${this.#statesOf(identities)}`, 'base64url')}"`;
    }
    const tag = createHash('sha256').update(rest);
    // The tag of all objects would reveal changes in namespaces that the caller is not allowed to read.
    const isAll = identities.length === snapshot.size && !isComputed;
    for (const states of isAll ? this.#chunkStates(snapshot) : this.#partStates(identities)) {
      tag.update(`${states},`);
      if (slices.spent) await slices.next();
    }
    return `"${tag.digest('base64url')}"`;
  }

  *#chunkStates({ chunks }: ObjectSnapshot<Facts>): Generator<string> {
    for (const chunk of chunks) yield this.#options.states.ofChunk(chunk);
  }

  *#partStates(identities: readonly ObjectIdentity<Facts>[]): Generator<string> {
    for (let i = 0; i < identities.length; i += STEPS) {
      yield this.#statesOf(identities.slice(i, i + STEPS));
    }
  }

  #statesOf(identities: readonly ObjectIdentity<Facts>[]): string {
    return identities.map((identity) => this.#options.item.state(identity)).join();
  }
}
