// The navigation: the views, and the kinds of the cluster in groups.
import type { ServedKind } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from './context.ts';
import { type Kinds, titleOf } from './kinds.ts';
import { link, queryOf, type Route } from './route.ts';
import { Failure } from './ui/notice.ts';

/** The kinds of Kubernetes that people look at most. All others follow by their API group. */
const GROUPS = {
  Workloads: 'pods deployments.apps statefulsets.apps daemonsets.apps jobs.batch cronjobs.batch',
  Network:
    'services ingresses.networking.k8s.io networkpolicies.networking.k8s.io endpointslices.discovery.k8s.io',
  Configuration: 'configmaps secrets serviceaccounts resourcequotas limitranges',
  Storage: 'persistentvolumeclaims persistentvolumes storageclasses.storage.k8s.io',
  Cluster: 'nodes namespaces events',
};

function groupsOf(kinds: Kinds): readonly (readonly [title: string, kinds: ServedKind[]])[] {
  const others = new Map(kinds);
  const named = Object.entries(GROUPS).map(([title, resources]) => {
    const group = resources.split(' ').flatMap((resource) => kinds.get(resource) ?? []);
    for (const { resource } of group) others.delete(resource);
    return [title, group] as const;
  });
  const [custom, builtIn] = [true, false].map((isCustom) =>
    [...others.values()].filter((kind) => kind.isCustom === isCustom),
  );
  return [...named, ['Custom resources', custom ?? []], ['More', builtIn ?? []]];
}

interface NavigationProps {
  readonly route: Route;
  readonly error: Error | undefined;
  readonly retry: () => void;
}

export function Navigation({ route, error, retry }: NavigationProps): ComponentChildren {
  const { kinds } = useExplore();
  const query = queryOf({ namespace: route.query.get('namespace') ?? '' });
  const current = route.view === 'list' || route.view === 'object' ? route.resource : undefined;
  const entry = (to: Route, label: string, isCurrent: boolean, detail = ''): ComponentChildren => {
    const attributes = {
      class: 'item',
      ...link(to),
      'aria-current': isCurrent ? 'page' : undefined,
    } as const;
    return h('li', { key: `${label} ${detail}` }, h('a', attributes, [label, h('small', {}, detail)]));
  };
  const kindEntry = ({ resource, isCustom, group }: ServedKind): ComponentChildren => {
    const to: Route = { view: 'list', resource, query };
    return entry(to, titleOf(resource, kinds), resource === current, isCustom ? group : '');
  };
  const sections = groupsOf(kinds)
    .filter(([, group]) => group.length > 0)
    .map(([title, group], index) => {
      const open = index === 0 || group.some(({ resource }) => resource === current);
      const summary = h('summary', { class: 'item caption' }, title);
      return h('details', { key: title, open }, [summary, h('ul', {}, group.map(kindEntry))]);
    });
  return h('nav', { id: 'navigation', 'aria-label': 'Views', popover: 'auto' }, [
    h('ul', {}, [
      entry({ view: 'overview', query }, 'Overview', route.view === 'overview'),
      entry({ view: 'logs', query }, 'Logs', route.view === 'logs'),
    ]),
    error && h(Failure, { error, retry }),
    sections,
  ]);
}
