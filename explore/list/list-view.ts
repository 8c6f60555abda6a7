// The view of the objects of one kind: filters, a live table, and pages.
import { StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { type ListRoute, listRoute, navigate, withQuery } from '../route.ts';
import { LiveState } from '../ui/live-state.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { Toggle } from '../ui/toggle.ts';
import { ListFilters } from './list-filters.ts';
import { facetsOf, listQueryOf } from './list-query.ts';
import type { Rows } from './list-rows.ts';
import { ListTable } from './list-table.ts';
import { Pager } from './pager.ts';
import { useCounts, useList } from './use-list.ts';

export function ListView({ route }: { readonly route: ListRoute }): ComponentChildren {
  const { resource, query } = route;
  const { kinds } = useExplore();
  const [isPaused, pause] = useState(false);
  const shown = listQueryOf(route);
  const facets = facetsOf(route).filter(({ name }) => name !== 'label:');
  const wanted = { ...shown, facets: facets.map(({ name }) => name) };
  const { value: list, isCurrent, connection, error, retry } = useList(resource, wanted, isPaused);
  const filtering = facets.filter(({ parameter }) => query.has(parameter));
  const counts = { ...list?.facets, ...useCounts(resource, shown, filtering) };
  const label = titleOf(resource, kinds);
  const isWide = query.has('wide');
  const toggleColumns = (): void =>
    navigate(withQuery(route, { wide: isWide ? undefined : 'true' }), { replace: true });
  const clear = ['Clear filters', () => navigate(listRoute(resource))] as const;
  // Nothing can be filtered without a permission, or if the kind is not served.
  const isFilterable = list || !error || (error instanceof StatusError && error.code === 400);
  return h('div', { class: 'stack' }, [
    h('div', { class: 'row' }, [
      h('h1', { tabIndex: -1 }, label),
      h('code', { class: 'muted fill' }, resource),
      list?.columns.some(({ priority }) => priority > 0) &&
        h(Toggle, { isOn: isWide, onClick: toggleColumns }, 'More columns'),
      h(LiveState, { connection, error, isPaused, pause }),
    ]),
    isFilterable && h(ListFilters, { route, counts, labelKeys: list?.labelKeys ?? [], error }),
    list?.isPartial && h(Notice, { tone: 'info' }, partialText(list)),
    error && h(Failure, { error, retry }),
    !list &&
      !error &&
      connection?.state !== 'waiting' &&
      h('p', { class: 'muted', role: 'status' }, `Loading ${label}…`),
    list?.total === 0 &&
      !error &&
      (query.size > 0
        ? h(Notice, { tone: 'idle', action: clear }, `No ${label} match the filters.`)
        : h(Notice, { tone: 'idle' }, `There are no ${label}.`)),
    list &&
      list.total > 0 && [
        h(ListTable, { route, shown, list, label, isBusy: !isCurrent }),
        h(Pager, { route, shown, total: list.total }),
      ],
  ]);
}

function partialText({ facets }: Rows): string {
  const count = Object.keys(facets['namespace'] ?? {}).length;
  const namespaces = count === 0 ? 'the namespaces' : count === 1 ? '1 namespace' : `${count} namespaces`;
  return `Objects of ${namespaces} that you may list. You have no permission for the others.`;
}
