// The view of the objects of one kind: filters, a live table, and pages.
import { type Rows, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { type Explore, titleOf, useExplore } from '../context.ts';
import { listURL, navigate } from '../route.ts';
import { choice, toggle } from '../ui/controls.ts';
import { failure, liveState, loading, notice } from '../ui/notice.ts';
import { ListFilters } from './list-filters.ts';
import { facetsOf, listQueryOf, PAGE_SIZES, type ShownQuery } from './list-query.ts';
import { ListTable } from './list-table.ts';
import { useCounts, useList } from './use-list.ts';

export function ListView(): ComponentChildren {
  const { kinds, route, change } = useExplore();
  const { names, query } = route;
  const [resource = ''] = names;
  const [isPaused, pause] = useState(false);
  const shown = listQueryOf(route);
  const facets = facetsOf(query).filter(({ name }) => name !== 'label:');
  const facetNames = facets.map(({ name }) => name);
  const live = useList(resource, shown, facetNames, isPaused);
  const { value: list, connection, error } = live;
  const filtering = facets.filter(({ parameter }) => query.has(parameter));
  const counts = { ...list?.facets, ...useCounts(resource, shown, filtering, list?.facets) };
  const label = titleOf(resource, kinds);
  const showAllColumns = (isWide: boolean): void =>
    change({ wide: isWide ? 'true' : undefined }, { replace: true });
  const hasFilters = query.size > 0;
  const none = hasFilters ? `No ${label} match the filters.` : `There are no ${label}.`;
  const clear = ['Clear filters', () => navigate(listURL(resource))] as const;
  // Nothing can be filtered without a permission, or if the kind is not served.
  const isFilterable = list || !error || (error instanceof StatusError && error.code === 400);
  return h('div', { class: 'stack' }, [
    h('div', { class: 'row' }, [
      h('h1', { tabIndex: -1 }, label),
      h('code', { class: 'muted fill' }, resource),
      list?.columns.some(({ priority }) => priority > 0) &&
        toggle('More columns', query.has('wide'), showAllColumns),
      liveState(live, isPaused, pause),
    ]),
    isFilterable && h(ListFilters, { counts, labelKeys: list?.labelKeys ?? [], error }),
    list?.isPartial && notice('info', partialText(list)),
    error && failure(error, live.retry),
    !list && !error && connection?.state !== 'waiting' && loading(`Loading ${label}…`),
    list?.total === 0 && !error && notice('idle', none, hasFilters && clear),
    list &&
      list.total > 0 && [
        h(ListTable, { shown, list, label, isBusy: !live.isCurrent, show: live.show }),
        pager(shown, list, change),
      ],
  ]);
}

function partialText({ facets }: Rows): string {
  const count = Object.keys(facets['namespace'] ?? {}).length;
  const namespaces = count === 0 ? 'the namespaces' : count === 1 ? '1 namespace' : `${count} namespaces`;
  return `Objects of ${namespaces} that you may list. You have no permission for the others.`;
}

function pager({ page, limit }: ShownQuery, { total }: Rows, change: Explore['change']): ComponentChildren {
  const last = Math.max(1, Math.ceil(total / limit));
  const [first, end] = [Math.min(total, (page - 1) * limit + 1), Math.min(total, page * limit)];
  const button = (label: string, sign: string, target: number): ComponentChildren => {
    const disabled = target < 1 || target > last || target === page;
    const onClick = (): void => change({ page: String(target) });
    return h('button', { class: 'quiet', 'aria-label': label, title: label, disabled, onClick }, sign);
  };
  const sizes = Object.fromEntries(PAGE_SIZES.map((size) => [size, size.toLocaleString()]));
  const choose = (size: string): void => change({ limit: size, page: undefined });
  const text = `${first.toLocaleString()}–${end.toLocaleString()} of ${total.toLocaleString()}`;
  return h('nav', { class: 'row small', 'aria-label': 'Pages' }, [
    button('First page', '«', 1),
    button('Previous page', '‹', Math.min(page - 1, last)),
    button('Next page', '›', page + 1),
    button('Last page', '»', last),
    h('span', { class: 'fill', role: 'status' }, text),
    h('label', {}, ['Rows ', choice('Rows', String(limit), sizes, choose)]),
  ]);
}
