// The namespace that the views show, in the parameter `namespace` of their addresses. It offers those that the user may
// list; any other can be typed.
import type { ListPage } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from './context.ts';
import { navigate, type Route, withQuery } from './route.ts';

/** Maximum number of offered namespaces. */
const OFFERED = 500;

export function NamespaceChooser({ route }: { readonly route: Route }): ComponentChildren {
  const { client, kinds } = useExplore();
  const [page, setPage] = useState<ListPage>();
  const input = useRef<HTMLInputElement>(null);
  const namespace = route.query.get('namespace') ?? '';
  useEffect(() => {
    if (input.current) input.current.value = namespace;
  }, [namespace]);
  const isScoped =
    route.view === 'list'
      ? kinds.get(route.resource)?.namespaced !== false
      : route.view === 'overview' || route.view === 'logs';
  /** Only a user who chooses a namespace needs the list. */
  const offer = (): void => {
    if (page) return;
    // Without the list, any namespace can still be typed.
    const query = { sortBy: 'name', ascending: true, limit: OFFERED };
    client.lists.page('namespaces', query).then(setPage, () => undefined);
  };
  const choose = (value: string): void => {
    const chosen = value.trim();
    if (chosen !== namespace) navigate(withQuery(route, { namespace: chosen, page: undefined }));
  };
  if (!isScoped) return null;
  return h('div', { class: 'namespace' }, [
    h('label', { class: 'hidden-text', for: 'namespace' }, 'Namespace'),
    h('input', {
      id: 'namespace',
      ref: input,
      type: 'search',
      list: 'namespaces',
      defaultValue: namespace,
      placeholder: page?.partial ? 'All your namespaces' : 'All namespaces',
      autocomplete: 'off',
      spellcheck: false,
      onFocus: offer,
      onChange: ({ currentTarget }) => choose(currentTarget.value),
    }),
    h(
      'datalist',
      { id: 'namespaces' },
      page?.items.map(({ metadata: { name } }) => h('option', { value: name })),
    ),
  ]);
}
