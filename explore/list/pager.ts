// The pages of a list: which objects are shown, the other pages, and the page size.
import { type ComponentChildren, h } from 'preact';
import { type ListRoute, navigate, withQuery } from '../route.ts';
import { Select } from '../ui/select.ts';
import { PAGE_SIZES, type ShownQuery } from './list-query.ts';

export interface PagerProps {
  readonly route: ListRoute;
  readonly shown: Pick<ShownQuery, 'page' | 'limit'>;
  readonly total: number;
}

export function Pager({ route, shown: { page, limit }, total }: PagerProps): ComponentChildren {
  const last = Math.max(1, Math.ceil(total / limit));
  const first = Math.min(total, (page - 1) * limit + 1);
  const button = (label: string, sign: string, target: number, disabled: boolean): ComponentChildren => {
    const onClick = (): void =>
      navigate(withQuery(route, { page: target === 1 ? undefined : String(target) }));
    return h('button', { class: 'quiet', 'aria-label': label, title: label, disabled, onClick }, sign);
  };
  const range = [first, Math.min(total, page * limit)].map((index) => index.toLocaleString()).join('–');
  const sizes = Object.fromEntries(PAGE_SIZES.map((size) => [size, size.toLocaleString()]));
  const choose = (size: string): void => navigate(withQuery(route, { limit: size, page: undefined }));
  return h('nav', { class: 'pager', 'aria-label': 'Pages' }, [
    button('First page', '«', 1, page <= 1),
    button('Previous page', '‹', Math.min(page - 1, last), page <= 1),
    h('span', { role: 'status' }, `${range} of ${total.toLocaleString()}`),
    button('Next page', '›', page + 1, page >= last),
    button('Last page', '»', last, page >= last),
    h('label', {}, [
      h('span', { class: 'muted' }, 'Rows '),
      h(Select, { label: 'Rows', value: String(limit), options: sizes, choose }),
    ]),
  ]);
}
