// The address of a view, which reproduces it: filters, pages and time ranges are in the query.
import type { TimeRange } from 'ks-apiserver-client';
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

function parseRoute({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Route {
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

function urlOf(segments: readonly string[], query: URLSearchParams): string {
  const path = [BASE, ...segments.map(encodeURIComponent)].join('/');
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Parameters of a query: an array sets the parameter several times, undefined and an empty text remove it. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;

function queryOf(changes: Changes, before: URLSearchParams = new URLSearchParams()): URLSearchParams {
  const query = new URLSearchParams(before);
  for (const [name, value = ''] of Object.entries(changes)) {
    query.delete(name);
    for (const each of typeof value === 'string' ? [value] : value) if (each !== '') query.append(name, each);
  }
  return query;
}

/** Changes of a query to an absolute range, which new lines do not reach. */
export function absolute({ start_time, end_time }: TimeRange): Changes {
  const end = String(Math.max(start_time, end_time));
  return { start_time: String(start_time), end_time: end, last: undefined, follow: undefined };
}

export function overviewURL(changes: Changes = {}): string {
  return urlOf([], queryOf(changes));
}

export function listURL(resource: string, changes: Changes = {}): string {
  return urlOf(['lists', resource], queryOf(changes));
}

export function logsURL(changes: Changes): string {
  return urlOf(['logs'], queryOf(changes));
}

export function objectURL(resource: string, { namespace, name }: Omit<ObjectNames, 'resource'>): string {
  return urlOf(['objects', resource, namespace ?? CLUSTER, name], queryOf({}));
}

export function namesOf({ names: [resource = '', namespace, name = ''] }: Route): ObjectNames {
  return { resource, namespace: namespace === CLUSTER ? undefined : namespace, name };
}

/** The same view with another query. */
export function changedURL({ view, names, query }: Route, changes: Changes): string {
  return urlOf([view, ...names].filter(Boolean), queryOf(changes, query));
}

/** Shows the view of an address. `replace`: without a new entry in the history, for input that changes with each key. */
export function navigate(url: string, { replace = false } = {}): void {
  navigation.navigate(url, { history: replace ? 'replace' : 'auto' });
}

/** The current route. Renders the component again when it changes, by a link, a script or the history. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location));
  useEffect(() => {
    const onNavigate = (event: NavigateEvent): void => {
      const { canIntercept, hashChange, navigationType, destination } = event;
      const { pathname } = new URL(destination.url);
      const isView = pathname === BASE || pathname.startsWith(`${BASE}/`);
      if (!canIntercept || hashChange || navigationType === 'reload' || !isView) return;
      const scroll = navigationType === 'traverse' ? 'after-transition' : 'manual';
      event.intercept({ handler: async () => setRoute(parseRoute(location)), focusReset: 'manual', scroll });
    };
    navigation.addEventListener('navigate', onNavigate);
    return () => navigation.removeEventListener('navigate', onNavigate);
  }, []);
  return route;
}
