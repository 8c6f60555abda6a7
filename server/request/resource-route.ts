// ResourceRoute: the handler of a resource, which a feature offers and the server adds to its routes.
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import type { Handler } from './request-context.ts';
import type { ResourceRequest } from './request-info.ts';

export interface ResourceRoute {
  readonly prefix: ResourceRequest['prefix'];
  readonly group: string;
  readonly version: string;
  /** `*` for all resources without a route of their own. */
  readonly resource: string;
  /** For `*`: returns true for resources that exist. Metrics use only these as label values. */
  readonly serves?: (resource: string) => boolean;
  /** Subresources that the handler supports. Metrics use only these as label values. */
  readonly subresources?: readonly string[];
  readonly handler: Handler;
}

/** Returns true if the server serves the resource. Requests for other resources share one set of labels. */
export type KnownResource = (
  group: string,
  version: string,
  resource: string,
  subresource: string,
) => boolean;

/**
 * Returns a function that is true for resources with a handler. Metrics use it, so that requests for random resources
 * do not create label values. `subresource` is empty for a request without one.
 */
export function knownResources(resources: readonly ResourceRoute[]): KnownResource {
  const known = Map.groupBy(resources, ({ resource }) => resource);
  const open = resources.filter(({ serves }) => serves !== undefined);
  return (group, version, resource, subresource) =>
    known
      .get(resource)
      ?.some(
        (route) =>
          route.group === group &&
          route.version === version &&
          (subresource === '' || route.subresources?.includes(subresource)),
      ) ||
    open.some(
      (route) =>
        subresource === '' && route.group === group && route.version === version && route.serves?.(resource),
    );
}

/** Returns the handler of all requests for a resource. It throws NotFound for an unknown resource. */
export function resourceRequests(resources: readonly ResourceRoute[]): Handler {
  const byResource = Map.groupBy(resources, ({ resource }) => resource);
  const find = (resource: string, { prefix, group, version }: ResourceRequest): Handler | undefined =>
    byResource
      .get(resource)
      ?.find((route) => route.prefix === prefix && route.group === group && route.version === version)
      ?.handler;
  return (context) => {
    const { info } = context;
    // Authorization uses the same RequestInfo.
    const handler = info.isResourceRequest ? (find(info.resource, info) ?? find('*', info)) : undefined;
    if (!handler) throw newPathNotFound();
    return handler(context);
  };
}
