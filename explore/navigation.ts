// The navigation: the views, and the kinds of the cluster in groups.
import { kindGroups, type ServedKind } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from './context.ts';
import { listURL, logsURL, overviewURL } from './route.ts';
import { failure } from './ui/notice.ts';
import type { Live } from './ui/use-live.ts';

/** Of discovery. */
type NavigationProps = Pick<Live<unknown>, 'error' | 'retry'>;

export function Navigation({ error, retry }: NavigationProps): ComponentChildren {
  const { kinds, route } = useExplore();
  const scope = { namespace: route.query.get('namespace') ?? '' };
  const [current] = route.names;
  const entry = (href: string, label: string, isCurrent: boolean, detail = ''): ComponentChildren => {
    const attributes = { class: 'item', href, 'aria-current': isCurrent ? 'page' : undefined } as const;
    const group = h('div', { class: 'caption ellipsis' }, detail);
    return h('li', { key: `${label} ${detail}` }, h('a', attributes, [label, group]));
  };
  const kindEntry = ({ resource, title, isCustom, group }: ServedKind): ComponentChildren =>
    entry(listURL(resource, scope), title, resource === current, isCustom ? group : '');
  const sections = kindGroups(kinds.values()).map(({ title, kinds: group }, index) => {
    const open = index === 0 || group.some(({ resource }) => resource === current);
    const summary = h('summary', { class: 'item caption' }, title);
    return h('details', { key: title, open }, [summary, h('ul', {}, group.map(kindEntry))]);
  });
  return h('nav', { id: 'navigation', 'aria-label': 'Views', popover: 'auto' }, [
    h('ul', {}, [
      entry(overviewURL(scope), 'Overview', route.view === ''),
      entry(logsURL(scope), 'Logs', route.view === 'logs'),
    ]),
    error && failure(error, retry),
    sections,
  ]);
}
