// Recorder of the writes of a caller, from the responses that the gateway forwards. Later reads of the caller must contain
// these writes.
import { ByteChunks } from '../../apis/reading/byte-chunks.ts';
import { recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { ProxiedContext } from '../request/gateway-route.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import type { RecentWrites, Write } from '../resources/recent-writes.ts';
import type { BodyReader, UpstreamResponse } from '../upstream/upstream-response.ts';
import { isPlainJSON } from './response-headers.ts';

/** Maximum size in bytes of a response that is parsed. */
const MAX_BYTES = 256 << 10;

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Sees a body that is copied. */
export type BodyObserver = Pick<BodyReader, 'data' | 'ended'>;

/**
 * Records the write of an object or of its subresource, after a successful response. Returns the observer of the response's body;
 * undefined if the body does not matter.
 */
export function noteWrite(
  { info, user, request }: ProxiedContext,
  response: Pick<UpstreamResponse, 'statusCode' | 'headers'>,
  writes: RecentWrites,
): BodyObserver | undefined {
  if (!info.isResourceRequest || !WRITES.has(info.verb) || response.statusCode >= 300) return undefined;
  // A request to a pod, Service or node proxy, and a dry run, write nothing.
  if (info.subresource === 'proxy' || request.url?.includes('dryRun=')) return undefined;
  const kind = { group: info.group, plural: info.resource };
  if (!writes.concerns(kind)) return undefined;
  if (!isPlainJSON(response) || info.verb === 'deletecollection') {
    writes.add(user, kind, 'unknown');
    return undefined;
  }
  const chunks = new ByteChunks();
  let size = 0;
  return {
    data: (chunk) => {
      size += chunk.length;
      if (size <= MAX_BYTES) chunks.add(chunk);
    },
    // Before the end of the response to the client.
    ended: () =>
      writes.add(user, kind, size <= MAX_BYTES ? writeIn(Buffer.concat(chunks.take()), info) : 'unknown'),
  };
}

function writeIn(body: Buffer, { namespace, resource, name }: ResourceRequest): Write {
  try {
    const object: unknown = JSON.parse(body.toString('utf8'));
    const version = text(recordIn(object, 'metadata')['resourceVersion']);
    if (/^\d+$/.test(version)) return { version: BigInt(version) };
    const uid = text(recordIn(object, 'details')['uid']);
    const isNamespaced = namespace !== '' && resource !== 'namespaces';
    return uid === '' ? 'unknown' : { key: isNamespaced ? `${namespace}/${name}` : name, uid };
  } catch {
    return 'unknown';
  }
}
