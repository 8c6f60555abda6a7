// The namespace that the views show, in the parameter `namespace` of their addresses. It offers those that the user may
// list; any other can be typed.
import type { ListPage } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from './context.ts';
import { navigate, type Route, withQuery } from './route.ts';
import { TextField } from './ui/text-field.ts';

/** Only a user who chooses a namespace needs the list, of at most as many namespaces. */
const OFFERED = { sortBy: 'name', ascending: true, limit: 500 };

export function NamespaceChooser({ route }: { readonly route: Route }): ComponentChildren {
  const { client, kinds } = useExplore();
  const [page, setPage] = useState<ListPage>();
  const isScoped =
    route.view === 'list'
      ? kinds.get(route.resource)?.namespaced !== false
      : route.view === 'overview' || route.view === 'logs';
  if (!isScoped) return null;
  return h(TextField, {
    id: 'namespace',
    type: 'search',
    'aria-label': 'Namespace',
    placeholder: page?.partial ? 'All your namespaces' : 'All namespaces',
    text: route.query.get('namespace') ?? '',
    apply: (text) => navigate(withQuery(route, { namespace: text.trim(), page: undefined })),
    offered: page?.items.map(({ metadata }) => metadata.name) ?? [],
    // Without the list, any namespace can still be typed.
    onFocus: () => void client.lists.page('namespaces', OFFERED).then(setPage, () => undefined),
  });
}
