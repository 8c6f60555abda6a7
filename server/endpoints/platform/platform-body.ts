// Response bodies of the node list for consoles. A long list consists of chunks, and the compressed form of each chunk
// is cached.

import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import type { CachedObject, SnapshotPiece } from '../../cache/resource-cache.ts';
import type { RequestContext } from '../../request/request-context.ts';
import type { NodeFacts } from '../../resources/nodes/node-facts.ts';
import { acceptsGzip, GZIP_THRESHOLD, joined, writeBody } from '../response.ts';
import { gzipped } from '../rest/list-body.ts';
import { framed, type ListFrame } from '../rest/representation.ts';
import type { PlatformItem } from './platform-item.ts';

export type Headers = Readonly<Record<string, string | number>>;

/** Writes status 200 and the body. */
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

const compress = promisify(deflateRaw);
const COMMA = Buffer.from(',');

type Node = CachedObject<NodeFacts>;

/** Average number of nodes in a chunk. */
const USUAL_NODES = 32;
const MOST_NODES = 96;

/**
 * Content-defined chunks of a long list, with a cache of their compressed bytes. A hash of the node name, not the
 * position, determines where a chunk starts. So a new or changed node affects only its chunk, in every sort order.
 */
export class PlatformPieces {
  readonly #item: PlatformItem;
  readonly #maxBytes: number;
  /** Compressed chunks by a hash of their content; the least recently used one is first. */
  readonly #compressed = new Map<string, Buffer>();
  #bytes = 0;

  /** `maxBytes`: maximum total size of the cached compressed chunks. */
  constructor(item: PlatformItem, maxBytes = 8 << 20) {
    this.#item = item;
    this.#maxBytes = maxBytes;
  }

  /** `epoch`: of the cache. In another epoch, the same resourceVersion can belong to different content. */
  of(nodes: readonly Node[], epoch: number): SnapshotPiece[] {
    const pieces: SnapshotPiece[] = [];
    let piece: Node[] = [];
    for (const node of nodes) {
      const full = piece.length >= MOST_NODES || (piece.length > 0 && beginsPiece(node));
      if (full) {
        pieces.push(this.#piece(piece, epoch));
        piece = [];
      }
      piece.push(node);
    }
    if (piece.length > 0) pieces.push(this.#piece(piece, epoch));
    return pieces;
  }

  #piece(nodes: readonly Node[], epoch: number): SnapshotPiece {
    const json = (): Buffer =>
      Buffer.concat(
        nodes.flatMap((node, index) => [...(index > 0 ? [COMMA] : []), ...this.#item.parts(node)]),
      );
    return { json, deflated: () => this.#deflated(this.#key(nodes, epoch), json) };
  }

  #key(nodes: readonly Node[], epoch: number): string {
    const states = nodes.map((node) => `${node.name} ${this.#item.state(node)}`);
    return hash('sha256', `${epoch} ${states.join()}`, 'base64');
  }

  async #deflated(key: string, json: () => Buffer): Promise<Buffer> {
    const known = this.#compressed.get(key);
    if (known) {
      this.#compressed.delete(key);
      this.#compressed.set(key, known);
      return known;
    }
    const made = await compress(json(), { finishFlush: constants.Z_SYNC_FLUSH });
    this.#keep(key, made);
    return made;
  }

  #keep(key: string, made: Buffer): void {
    // Two requests can compress the same chunk at the same time.
    if (this.#compressed.has(key)) return;
    this.#compressed.set(key, made);
    this.#bytes += made.length;
    for (const [oldest, bytes] of this.#compressed) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#compressed.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }
}

function beginsPiece({ name }: Node): boolean {
  return crc32(name) % USUAL_NODES === 0;
}
