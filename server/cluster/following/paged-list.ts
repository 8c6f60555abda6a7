import { newExpired } from '../../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../connection/client.ts';
import { type LiveRequest, liveAnswer } from '../connection/live-answer.ts';
import { ListSplitter } from './list-splitter.ts';

export interface ListRequest extends LiveRequest {
  readonly query: Readonly<Record<string, string>>;
  /** Objects a page; 0 asks for everything at once. */
  readonly limit: number;
  /** The largest object, in bytes. */
  readonly itemLimit: number;
}

/**
 * Lists everything page by page and hands over each object as raw JSON, a slice to be copied if kept. Returns the
 * resourceVersion of the list. Throws Expired when the pages took longer than the cluster keeps its history.
 */
export async function listPages(
  client: ClusterClient,
  request: ListRequest,
  onItem: (object: Buffer) => void,
): Promise<string> {
  let token = '';
  for (;;) {
    const page = await listPage(client, request, token, onItem);
    if (page.continue === '') return page.resourceVersion;
    if (page.continue === token) throw newExpired('the continue token did not move on');
    token = page.continue;
  }
}

async function listPage(
  client: ClusterClient,
  request: ListRequest,
  token: string,
  onItem: (object: Buffer) => void,
): Promise<{ resourceVersion: string; continue: string }> {
  const answer = await liveAnswer(client, request, {
    ...request.query,
    ...(request.limit > 0 ? { limit: String(request.limit) } : {}),
    ...(token === '' ? {} : { continue: token }),
  });
  const splitter = new ListSplitter(request.itemLimit);
  for await (const chunk of answer) {
    for (const item of splitter.push(chunk)) onItem(item);
  }
  const metadata = recordIn(splitter.envelope(), 'metadata');
  const resourceVersion = metadata['resourceVersion'];
  if (typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new SyntaxError('a list without resourceVersion');
  }
  return { resourceVersion, continue: text(metadata['continue']) };
}
