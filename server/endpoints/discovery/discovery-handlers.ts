// Serves discovery for the API groups of this server: /apis, /apis/<group> and /apis/<group>/<version>.

import type { Router } from 'express';
import { negotiate } from '../../http/accept.ts';
import { endpoint, newRouter, readOnly } from '../../http/endpoint.ts';
import { type StaticDocument, staticDocument, writeDocument } from '../../http/static-document.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import {
  aggregatedDocument,
  type DiscoveredResource,
  groupDocument,
  groupListDocument,
  groupsOf,
  resourceListDocument,
} from './documents.ts';

const GROUP = 'apidiscovery.k8s.io';
const LEGACY_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' } as const;

function legacy(document: StaticDocument): Handler {
  return (context) => {
    negotiate(context.request.headers.accept, (conversion) => conversion === undefined);
    return writeDocument(context, document, LEGACY_HEADERS);
  };
}

/** Returns the handler of /apis: aggregated discovery for clients that accept it, else the legacy list of groups. */
function root(resources: readonly DiscoveredResource[]): Handler {
  const list = staticDocument(groupListDocument(resources));
  const aggregated = new Map(
    (['v2', 'v2beta1'] as const).map((version) => [
      version,
      staticDocument(aggregatedDocument(resources, version)),
    ]),
  );
  const find = (version: string): StaticDocument | undefined =>
    version === 'v2' || version === 'v2beta1' ? aggregated.get(version) : undefined;
  return (context: RequestContext) => {
    const { conversion } = negotiate(context.request.headers.accept, (wanted) => {
      if (!wanted) return true;
      const { kind, group, version } = wanted;
      return kind === 'APIGroupDiscoveryList' && group === GROUP && find(version) !== undefined;
    });
    const document = conversion && find(conversion.version);
    if (!document) return writeDocument(context, list, LEGACY_HEADERS);
    return writeDocument(context, document, {
      // Clients distinguish aggregated and legacy discovery only by this header.
      'Content-Type': `application/json;g=${GROUP};v=${conversion.version};as=APIGroupDiscoveryList`,
      'Cache-Control': 'public',
    });
  };
}

/** All groups and versions, with and without a trailing slash. */
export function discoveryRouter(resources: readonly DiscoveredResource[]): Router {
  const router = newRouter();
  const serve = (path: string, handler: Handler): void => {
    router
      .route([path, `${path}/`])
      .get(endpoint(handler))
      .all(readOnly);
  };
  serve('/apis', root(resources));
  for (const group of groupsOf(resources)) {
    const document = groupDocument(resources, group);
    serve(`/apis/${group}`, legacy(staticDocument(document)));
    for (const { version } of document.versions) {
      const list = resourceListDocument(resources, group, version);
      serve(`/apis/${group}/${version}`, legacy(staticDocument(list)));
    }
  }
  return router;
}
