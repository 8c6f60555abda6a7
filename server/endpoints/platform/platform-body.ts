// The body of the node list: small ones in one piece, large ones in pieces that are made when the reader takes them.
import type { CachedObject } from '../../cache/objects/cached-object.ts';
import type { SnapshotPiece } from '../../cache/snapshots/snapshot.ts';
import type { RequestContext } from '../../request/request-context.ts';
import type { NodeFacts } from '../../resources/nodes/facts.ts';
import { acceptsGzip, GZIP_THRESHOLD } from '../content-encoding.ts';
import { joined, writeBody } from '../response.ts';
import { gzipped } from '../rest/piece-list.ts';
import { framed, type ListFrame } from '../rest/representations/representation.ts';
import type { PlatformItem } from './platform-item.ts';

export type Headers = Readonly<Record<string, string | number>>;

/** Writes the 200 and its body. */
export function writeNodes(
  context: RequestContext,
  headers: Headers,
  frame: ListFrame,
  nodes: readonly CachedObject<NodeFacts>[],
  { item, pieces }: { readonly item: PlatformItem; readonly pieces: () => readonly SnapshotPiece[] },
): Promise<void> | void {
  const { request, response, signal } = context;
  const parts = framed(frame, nodes, (node) => item.parts(node));
  const least = nodes.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (least <= GZIP_THRESHOLD) {
    const body = Buffer.concat([...parts]);
    response.writeHead(200, { ...headers, 'Content-Length': body.length });
    response.end(body);
    return;
  }
  const gzip = acceptsGzip(request);
  response.writeHead(200, gzip ? { ...headers, 'Content-Encoding': 'gzip' } : headers);
  const body = gzip ? gzipped(frame, pieces()) : joined(parts);
  return writeBody(response, body, signal);
}
