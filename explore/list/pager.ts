// The pages of a list: which objects are shown, the other pages, and the page size.
import { type ComponentChildren, h } from 'preact';
import { type ListRoute, navigate, withQuery } from '../route.ts';
import { Select } from '../ui/select.ts';
import { PAGE_SIZES, type ShownQuery } from './list-query.ts';

export interface PagerProps {
  readonly route: ListRoute;
  readonly shown: ShownQuery;
  readonly total: number;
}

export function Pager({ route, shown: { page, limit }, total }: PagerProps): ComponentChildren {
  const last = Math.max(1, Math.ceil(total / limit));
  const first = Math.min(total, (page - 1) * limit + 1);
  const end = Math.min(total, page * limit);
  const button = (label: string, sign: string, target: number): ComponentChildren =>
    h(
      'button',
      {
        ...{ type: 'button', class: 'quiet', 'aria-label': label, title: label },
        disabled: target < 1 || target > last || target === page,
        onClick: () => navigate(withQuery(route, { page: String(target) })),
      },
      sign,
    );
  return h('nav', { class: 'row', 'aria-label': 'Pages' }, [
    button('First page', '«', 1),
    button('Previous page', '‹', Math.min(page - 1, last)),
    h(
      'span',
      { role: 'status' },
      `${first.toLocaleString()}–${end.toLocaleString()} of ${total.toLocaleString()}`,
    ),
    button('Next page', '›', page + 1),
    button('Last page', '»', last),
    h('span', { class: 'fill' }),
    h('label', {}, [
      h('span', { class: 'muted' }, 'Rows '),
      h(Select, {
        ...{ label: 'Rows', value: String(limit) },
        options: Object.fromEntries(PAGE_SIZES.map((size) => [size, size.toLocaleString()])),
        choose: (size) => navigate(withQuery(route, { limit: size, page: undefined })),
      }),
    ]),
  ]);
}
