// The address of a view. A Route says what the page shows, and its URL reproduces the view: filters, pages and time
// ranges are in the query.
import { useEffect, useState } from 'preact/hooks';

interface View<Name extends string> {
  readonly view: Name;
  readonly query: URLSearchParams;
}

export type OverviewRoute = View<'overview'>;
export type LogsRoute = View<'logs'>;

export interface ListRoute extends View<'list'> {
  /** `pods` or `deployments.apps`. */
  readonly resource: string;
}

export interface ObjectRoute extends View<'object'> {
  readonly resource: string;
  /** Undefined for a cluster-scoped object. */
  readonly namespace: string | undefined;
  readonly name: string;
}

export type Route = OverviewRoute | ListRoute | ObjectRoute | LogsRoute | View<'unknown'>;

const BASE = '/explore';
/** In place of the namespace of a cluster-scoped object. No namespace has this name. */
const CLUSTER = '-';

export function parseRoute({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Route {
  const query = new URLSearchParams(search);
  const [first, ...rest] = segmentsOf(pathname);
  const [resource, namespace, name] = rest;
  if (first === undefined) return { view: 'overview', query };
  if (first === 'logs' && rest.length === 0) return { view: 'logs', query };
  if (first === 'lists' && resource && rest.length === 1) return { view: 'list', resource, query };
  if (first === 'objects' && resource && namespace && name && rest.length === 3) {
    const scope = namespace === CLUSTER ? undefined : namespace;
    return { view: 'object', resource, namespace: scope, name, query };
  }
  return { view: 'unknown', query };
}

function segmentsOf(pathname: string): string[] {
  try {
    return pathname.slice(BASE.length).split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return ['invalid escape'];
  }
}

export function urlOf(route: Route): string {
  const search = route.query.toString();
  const path = [BASE, ...pathOf(route).map(encodeURIComponent)].join('/');
  return search === '' ? path : `${path}?${search}`;
}

function pathOf(route: Route): string[] {
  switch (route.view) {
    case 'list':
      return ['lists', route.resource];
    case 'object':
      return ['objects', route.resource, route.namespace ?? CLUSTER, route.name];
    case 'logs':
      return ['logs'];
    default:
      return [];
  }
}

/** Parameters of a query: an array sets the parameter several times, undefined and an empty text remove it. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;

export function queryOf(changes: Changes, before: URLSearchParams = new URLSearchParams()): URLSearchParams {
  const query = new URLSearchParams(before);
  for (const [name, value = ''] of Object.entries(changes)) {
    query.delete(name);
    for (const each of typeof value === 'string' ? [value] : value) if (each !== '') query.append(name, each);
  }
  return query;
}

export function listRoute(resource: string, changes: Changes = {}): ListRoute {
  return { view: 'list', resource, query: queryOf(changes) };
}

export function logsRoute(changes: Changes): LogsRoute {
  return { view: 'logs', query: queryOf(changes) };
}

export function objectRoute(
  resource: string,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
): ObjectRoute {
  return { view: 'object', resource, namespace, name, query: queryOf({}) };
}

/** The same view with another query. */
export function withQuery<R extends Route>(route: R, changes: Changes): R {
  return { ...route, query: queryOf(changes, route.query) };
}

/** Shows a route. `replace`: without a new entry in the history, for input that changes with each key. */
export function navigate(route: Route, { replace = false } = {}): void {
  const url = urlOf(route);
  if (url !== `${location.pathname}${location.search}`) {
    if (replace) history.replaceState(null, '', url);
    else history.pushState(null, '', url);
  }
  dispatchEvent(new Event('popstate'));
}

/** Properties of the `<a>` that leads to a route. The browser itself opens new tabs and windows. */
export function link(route: Route): { readonly href: string; readonly onClick: (event: MouseEvent) => void } {
  return {
    href: urlOf(route),
    onClick: (event) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      navigate(route);
    },
  };
}

/** The current route. Renders the component again when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location));
  useEffect(() => {
    const changed = (): void => setRoute(parseRoute(location));
    addEventListener('popstate', changed);
    return () => removeEventListener('popstate', changed);
  }, []);
  return route;
}
