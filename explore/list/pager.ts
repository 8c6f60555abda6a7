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
  return h('nav', { class: 'row small', 'aria-label': 'Pages' }, [
    pages,
    h(
      'span',
      { class: 'fill', role: 'status' },
      `${first.toLocaleString()}–${end.toLocaleString()} of ${total.toLocaleString()}`,
    ),
    h('label', {}, ['Rows ', h(Select, { label: 'Rows', value: String(limit), options, choose })]),
  ]);
}
