// The view of the objects of one kind: filters, a live table, and pages.
import { type Rows, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { type ListRoute, listRoute, navigate, withQuery } from '../route.ts';
import { LiveState } from '../ui/live-state.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { Select } from '../ui/select.ts';
import { Toggle } from '../ui/toggle.ts';
import { ListFilters } from './list-filters.ts';
import { facetsOf, listQueryOf, PAGE_SIZES } from './list-query.ts';
import { ListTable, type ListTableProps } from './list-table.ts';
import { useCounts, useList } from './use-list.ts';

export function ListView({ route }: { readonly route: ListRoute }): ComponentChildren {
  const { resource, query } = route;
  const { kinds } = useExplore();
  const [isPaused, pause] = useState(false);
  const shown = listQueryOf(route);
  const facets = facetsOf(route).filter(({ name }) => name !== 'label:');
  const names = facets.map(({ name }) => name);
  const {
    value: list,
    isCurrent,
    connection,
    error,
    retry,
    show,
  } = useList(resource, shown, names, isPaused);
  const filtering = facets.filter(({ parameter }) => query.has(parameter));
  const counts = { ...list?.facets, ...useCounts(resource, shown, filtering) };
  const label = titleOf(resource, kinds);
  const isWide = query.has('wide');
  const toggleColumns = (): void =>
    navigate(withQuery(route, { wide: isWide ? undefined : 'true' }), { replace: true });
  const hasFilters = query.size > 0;
  const none = hasFilters ? `No ${label} match the filters.` : `There are no ${label}.`;
  const clear = ['Clear filters', () => navigate(listRoute(resource))] as const;
  const isLoading = !list && !error && connection?.state !== 'waiting';
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
    isLoading && h('p', { class: 'muted', role: 'status' }, `Loading ${label}…`),
    list?.total === 0 && !error && h(Notice, { tone: 'idle', action: hasFilters && clear }, none),
    list &&
      list.total > 0 && [
        h(ListTable, { route, shown, list, label, isBusy: !isCurrent, show }),
        h(Pager, { route, shown, list }),
      ],
  ]);
}

function partialText({ facets }: Rows): string {
  const count = Object.keys(facets['namespace'] ?? {}).length;
  const namespaces = count === 0 ? 'the namespaces' : count === 1 ? '1 namespace' : `${count} namespaces`;
  return `Objects of ${namespaces} that you may list. You have no permission for the others.`;
}

type PagerProps = Pick<ListTableProps, 'route' | 'shown' | 'list'>;

function Pager({ route, shown, list }: PagerProps): ComponentChildren {
  const { total } = list;
  const { page, limit } = shown;
  const last = Math.max(1, Math.ceil(total / limit));
  const [first, end] = [Math.min(total, (page - 1) * limit + 1), Math.min(total, page * limit)];
  const pages = [
    { label: 'First page', sign: '«', target: 1 },
    { label: 'Previous page', sign: '‹', target: Math.min(page - 1, last) },
    { label: 'Next page', sign: '›', target: page + 1 },
    { label: 'Last page', sign: '»', target: last },
  ].map(({ label, sign, target }) => {
    const disabled = target < 1 || target > last || target === page;
    const onClick = (): void => navigate(withQuery(route, { page: String(target) }));
    return h('button', { class: 'quiet', 'aria-label': label, title: label, disabled, onClick }, sign);
  });
  const options = Object.fromEntries(PAGE_SIZES.map((size) => [size, size.toLocaleString()]));
  const choose = (size: string): void => navigate(withQuery(route, { limit: size, page: undefined }));
  const text = `${first.toLocaleString()}–${end.toLocaleString()} of ${total.toLocaleString()}`;
  return h('nav', { class: 'row small', 'aria-label': 'Pages' }, [
    pages,
    h('span', { class: 'fill', role: 'status' }, text),
    h('label', {}, ['Rows ', h(Select, { label: 'Rows', value: String(limit), options, choose })]),
  ]);
}
