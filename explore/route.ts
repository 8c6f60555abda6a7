// The address of a view, which reproduces it: filters, pages and time ranges are in the query.
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  /** Empty for the overview; `lists`, `objects` or `logs`. */
  readonly view: string;
  /** The resource of a list, such as `pods` or `deployments.apps`; resource, namespace and name of an object. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
}

/** The names of an object in its route. */
export interface ObjectNames {
  readonly resource: string;
  /** Undefined for a cluster-scoped object. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

const BASE = '/explore';
/** In place of the namespace of a cluster-scoped object. No namespace has this name. */
const CLUSTER = '-';

export function parseRoute({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Route {
  const [view = '', ...names] = segmentsOf(pathname);
  return { view, names, query: new URLSearchParams(search) };
}

function segmentsOf(pathname: string): string[] {
  try {
    return pathname.slice(BASE.length).split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return ['invalid escape'];
  }
}

export function urlOf({ view, names, query }: Route): string {
  const segments = [view, ...names].filter(Boolean).map((name) => `/${encodeURIComponent(name)}`);
  const search = query.toString();
  return BASE + segments.join('') + (search === '' ? '' : `?${search}`);
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

export function overviewRoute(changes: Changes = {}): Route {
  return { view: '', names: [], query: queryOf(changes) };
}

export function listRoute(resource: string, changes: Changes = {}): Route {
  return { view: 'lists', names: [resource], query: queryOf(changes) };
}

export function logsRoute(changes: Changes): Route {
  return { view: 'logs', names: [], query: queryOf(changes) };
}

export function objectRoute(resource: string, { namespace, name }: Omit<ObjectNames, 'resource'>): Route {
  return { view: 'objects', names: [resource, namespace ?? CLUSTER, name], query: queryOf({}) };
}

export function namesOf({ names: [resource = '', namespace, name = ''] }: Route): ObjectNames {
  return { resource, namespace: namespace === CLUSTER ? undefined : namespace, name };
}

/** The same view with another query. */
export function withQuery(route: Route, changes: Changes): Route {
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
