// Client for paged lists of kube-apiserver. The client yields raw JSON objects while the response arrives.
import { newExpired } from '../../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../connection/client.ts';
import { openStream, type StreamRequest } from '../connection/response-stream.ts';
import { LineTooLongError } from './line-splitter.ts';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './raw-json.ts';

interface ListRequest extends StreamRequest {
  readonly query: Readonly<Record<string, string>>;
  /** Objects per page; 0 requests the whole list. */
  readonly limit: number;
  /** Maximum size of an object in bytes. */
  readonly itemLimit: number;
}

/** A complete list. */
interface ListedPages {
  /** Empty if the list has none. */
  readonly resourceVersion: string;
  /** Number of objects that exceed `itemLimit`, which are skipped. */
  readonly skipped: number;
}

/** Maximum number of pages, for an API whose continue tokens never end. */
const MAX_PAGES = 100_000;

/**
 * Requests all pages, and passes each object to `onItem` as raw JSON. An object is a slice of a larger buffer, so the
 * caller copies what it stores. Throws Expired if etcd was compacted between two pages.
 */
export async function listPages(
  client: ClusterClient,
  request: ListRequest,
  onItem: (object: Buffer) => void,
): Promise<ListedPages> {
  let token = '';
  let skipped = 0;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await listPage(client, request, token, onItem);
    skipped += page.skipped;
    if (page.continue === '') return { resourceVersion: page.resourceVersion, skipped };
    if (page.continue === token) break;
    token = page.continue;
  }
  throw newExpired('the continue token did not advance');
}

async function listPage(
  client: ClusterClient,
  request: ListRequest,
  token: string,
  onItem: (object: Buffer) => void,
): Promise<ListedPages & { readonly continue: string }> {
  const response = await openStream(client, request, {
    ...request.query,
    ...(request.limit > 0 ? { limit: String(request.limit) } : {}),
    ...(token === '' ? {} : { continue: token }),
  });
  const splitter = new ListSplitter(request.itemLimit);
  for await (const chunk of response) {
    for (const item of splitter.push(chunk)) onItem(item);
  }
  const metadata = recordIn(splitter.envelope(), 'metadata');
  return {
    resourceVersion: text(metadata['resourceVersion']),
    continue: text(metadata['continue']),
    skipped: splitter.skipped,
  };
}

/**
 * Splits a list into its items and its envelope, while the list arrives. The items are the elements of the top-level
 * field `items`, the envelope is all other fields. The fields can have any order, and the list is never in memory as a
 * whole. Items over the limit are skipped, so that one object never makes a list impossible.
 */
export class ListSplitter {
  readonly #itemLimit: number;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The last string at the top level. If a `[` follows, the string is a field name. */
  #name = '';
  #inItems = false;
  #item: Buffer[] = [];
  #itemLength = 0;
  #envelope: Buffer[] = [];
  #envelopeLength = 0;
  #skipped = 0;

  /** `itemLimit`: maximum size of an item, and of the envelope, in bytes. */
  constructor(itemLimit: number) {
    this.#itemLimit = itemLimit;
  }

  /** Number of items over the limit. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Yields the items that this chunk completes, as slices of the chunk where possible. */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] ?? 0;
      if (this.#inString) {
        this.#stringByte(byte);
        continue;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#depth === 1) this.#name = '';
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#inItems && this.#depth === 2) from = i;
        this.#depth++;
        if (byte === OPEN_BRACKET && this.#depth === 2 && this.#isItems()) {
          this.#inItems = true;
          this.#keepEnvelope(chunk.subarray(from, i + 1));
          from = i + 1;
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#inItems && this.#depth === 2) {
          const item = this.#completeItem(chunk.subarray(from, i + 1));
          if (item) yield item;
          from = i + 1;
        } else if (this.#inItems && this.#depth === 1) {
          this.#inItems = false;
          from = i;
        }
      } else if (byte === COMMA && this.#inItems && this.#depth === 2) {
        from = i + 1;
      }
    }
    this.#keep(chunk, from);
  }

  /** Returns the list without its items; call it after the last chunk. Throws if the list is truncated. */
  envelope(): unknown {
    if (this.#depth !== 0 || this.#envelope.length === 0)
      throw new SyntaxError('the response is not a complete list');
    return JSON.parse(Buffer.concat(this.#envelope).toString('utf8'));
  }

  #stringByte(byte: number): void {
    if (this.#escaped) {
      this.#escaped = false;
    } else if (byte === BACKSLASH) {
      this.#escaped = true;
    } else if (byte === QUOTE) {
      this.#inString = false;
      return;
    }
    if (this.#depth === 1 && this.#name.length < 64) this.#name += String.fromCharCode(byte);
  }

  #isItems(): boolean {
    return this.#name === 'items' || (this.#name.includes('\\') && JSON.parse(`"${this.#name}"`) === 'items');
  }

  /** Returns undefined for an item over the limit. */
  #completeItem(tail: Buffer): Buffer | undefined {
    const parts = this.#item;
    const length = this.#itemLength + tail.length;
    this.#item = [];
    this.#itemLength = 0;
    if (length > this.#itemLimit) {
      this.#skipped++;
      return undefined;
    }
    return parts.length === 0 ? tail : Buffer.concat([...parts, tail], length);
  }

  #keep(chunk: Buffer, from: number): void {
    if (from >= chunk.length) return;
    const rest = chunk.subarray(from);
    if (!this.#inItems) return this.#keepEnvelope(rest);
    if (this.#depth <= 2) return;
    this.#itemLength += rest.length;
    if (this.#itemLength <= this.#itemLimit) this.#item.push(rest);
    else this.#item = [];
  }

  #keepEnvelope(part: Buffer): void {
    this.#envelopeLength += part.length;
    if (this.#envelopeLength > this.#itemLimit) throw new LineTooLongError(this.#itemLimit);
    this.#envelope.push(Buffer.from(part));
  }
}
