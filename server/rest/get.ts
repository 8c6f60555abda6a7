// The verb get: returns one object from the informer cache. A get request waits until the cache reaches the requested
// resourceVersion.
import { newNotFound } from '../../apis/meta/v1/errors.ts';
import { readResourceVersion } from '../../apis/meta/v1/list-options.ts';
import type { ResourceCache } from '../cache/resource-cache.ts';
import type { BodyHeaders } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { hasQuery } from '../request/request-path.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import { prettyPrinted } from './indenter.ts';
import { joinedParts, type Representation } from './representation.ts';

interface GetRequest<Facts> {
  readonly definition: ResourceDefinition<Facts>;
  readonly cache: ResourceCache<Facts>;
  readonly representation: Representation<Facts>;
  readonly pretty: boolean;
  readonly namespace: string;
  readonly name: string;
  readonly headers: BodyHeaders;
  /** See ResourceHandlerOptions. */
  readonly current?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** kube-apiserver adds a newline to JSON that is not indented. */
const NEWLINE = Buffer.from('\n');

export function get<Facts>(context: RequestContext, request: GetRequest<Facts>): Promise<void> | void {
  const resourceVersion = hasQuery(context.request) ? readResourceVersion(context.query) : '';
  const { current } = request;
  if (resourceVersion === '' && current) return current(context.signal).then(() => respond(context, request));
  if (resourceVersion === '' || resourceVersion === '0') return respond(context, request);
  return request.cache.waitUntil(resourceVersion, context.signal).then(() => respond(context, request));
}

function respond<Facts>({ response }: RequestContext, request: GetRequest<Facts>): void {
  const { definition, namespace, name } = request;
  const object = request.cache.snapshot().get(namespace === '' ? name : `${namespace}/${name}`);
  if (!object) throw newNotFound({ group: definition.group, resource: definition.plural }, name);
  const parts = request.representation.one(object);
  if (request.pretty) {
    const body = prettyPrinted(joinedParts(parts));
    response.writeHead(200, { ...request.headers, 'Content-Length': body.length });
    response.end(body);
    return;
  }
  const length = parts.reduce((sum, part) => sum + part.length, NEWLINE.length);
  response.writeHead(200, { ...request.headers, 'Content-Length': length });
  // Node sends all writes in one packet, which costs less than concatenation. Without cork() it would schedule an uncork().
  response.cork();
  for (const part of parts) response.write(part);
  response.end(NEWLINE);
}
