// The overview: what the cluster runs, with counts by status, its nodes, and what changed in the last minutes.
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { KindCounts } from './kind-counts.ts';
import { NodeUsage } from './node-usage.ts';
import { RecentEvents } from './recent-events.ts';

export function OverviewView(): ComponentChildren {
  const { route } = useExplore();
  const namespace = route.query.get('namespace') ?? '';
  const scope = namespace !== '' && h('small', { class: 'muted' }, ` of namespace ${namespace}`);
  return h('div', { class: 'stack' }, [
    h('h1', {}, ['Overview', scope]),
    h('div', { class: 'stack split' }, [
      h('div', { class: 'stack' }, [
        h(KindCounts, { namespace, key: namespace }),
        // Nodes belong to no namespace.
        namespace === '' && h(NodeUsage, {}),
      ]),
      h(RecentEvents, { title: 'Recent events', filter: { namespace: namespace || undefined } }),
    ]),
  ]);
}
