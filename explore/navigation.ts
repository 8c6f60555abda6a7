// The navigation: the views, and the kinds of the cluster in groups.
import { type ComponentChildren, h } from 'preact';
import { useExplore } from './context.ts';
import { type Kind, titleOf } from './kinds.ts';
import { link, queryOf, type Route } from './route.ts';
import { Failure } from './ui/notice.ts';

/** The kinds of Kubernetes that people look at most. All others follow by their API group. */
const GROUPS: readonly (readonly [title: string, resources: readonly string[]])[] = [
  [
    'Workloads',
    ['pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'cronjobs.batch'],
  ],
  [
    'Network',
    [
      'services',
      'ingresses.networking.k8s.io',
      'networkpolicies.networking.k8s.io',
      'endpointslices.discovery.k8s.io',
    ],
  ],
  ['Configuration', ['configmaps', 'secrets', 'serviceaccounts', 'resourcequotas', 'limitranges']],
  ['Storage', ['persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage.k8s.io']],
  ['Cluster', ['nodes', 'namespaces', 'events']],
];

interface Group {
  readonly title: string;
  readonly resources: readonly string[];
}

export function groupsOf(kinds: ReadonlyMap<string, Kind>): readonly Group[] {
  const known = new Set(GROUPS.flatMap(([, resources]) => resources));
  const others = [...kinds.values()].filter(({ resource }) => !known.has(resource));
  const named = GROUPS.map(([title, resources]) => ({
    title,
    resources: resources.filter((resource) => kinds.has(resource)),
  }));
  const part = (title: string, isCustom: boolean): Group => ({
    title,
    resources: others.filter((kind) => kind.isCustom === isCustom).map(({ resource }) => resource),
  });
  return [...named, part('Custom resources', true), part('More', false)].filter(
    ({ resources }) => resources.length > 0,
  );
}

export function Navigation({
  route,
  isOpen,
  failure,
  retry,
}: {
  readonly route: Route;
  readonly isOpen: boolean;
  readonly failure: Error | undefined;
  readonly retry: () => void;
}): ComponentChildren {
  const { kinds } = useExplore();
  const query = queryOf({ namespace: route.query.get('namespace') ?? '' });
  const current = route.view === 'list' || route.view === 'object' ? route.resource : undefined;
  return h('nav', { id: 'navigation', 'aria-label': 'Views', 'data-open': isOpen }, [
    h('ul', {}, [
      entry({ view: 'overview', query }, 'Overview', route.view === 'overview'),
      entry({ view: 'logs', query }, 'Logs', route.view === 'logs'),
    ]),
    failure && h(Failure, { error: failure, retry }),
    groupsOf(kinds).map(({ title, resources }, index) =>
      h('details', { key: title, open: index === 0 || resources.some((resource) => resource === current) }, [
        h('summary', { class: 'item caption' }, title),
        h(
          'ul',
          {},
          resources.map((resource) => {
            const group = kinds.get(resource)?.isCustom ? kinds.get(resource)?.group : undefined;
            return entry(
              { view: 'list', resource, query },
              titleOf(resource, kinds),
              resource === current,
              group,
            );
          }),
        ),
      ]),
    ),
  ]);
}

function entry(to: Route, label: string, isCurrent: boolean, detail?: string): ComponentChildren {
  return h(
    'li',
    { key: label + (detail ?? '') },
    h('a', { class: 'item', ...link(to), 'aria-current': isCurrent ? 'page' : undefined }, [
      label,
      detail !== undefined && h('small', {}, detail),
    ]),
  );
}
