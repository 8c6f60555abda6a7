// Client for paged lists of kube-apiserver. The client yields raw JSON objects while the response arrives.
import { newExpired } from '../../../apis/meta/v1/errors.ts';
import { parseBoundedJSON } from '../../../apis/reading/bounded-json.ts';
import { ListSplitter } from '../../../apis/reading/list-splitter.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../connection/client.ts';
import { openStream, type StreamRequest } from '../connection/response-stream.ts';

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
  const metadata = recordIn(parseBoundedJSON(splitter.envelope()), 'metadata');
  return {
    resourceVersion: text(metadata['resourceVersion']),
    continue: text(metadata['continue']),
    skipped: splitter.skipped,
  };
}
