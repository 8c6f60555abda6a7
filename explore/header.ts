// The header: namespace, search, and the user.
import type { ListPage } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from './context.ts';
import { link, navigate, queryOf, type Route, withQuery } from './route.ts';
import type { SignedIn } from './session.ts';
import { TextField } from './ui/text-field.ts';

const ICON = new URL('icon.svg', import.meta.url).href;

interface HeaderProps {
  readonly route: Route;
  readonly session: SignedIn;
  readonly search: () => void;
}

export function Header({ route, session, search }: HeaderProps): ComponentChildren {
  const { user, signOut } = session;
  const query = queryOf({ namespace: route.query.get('namespace') ?? '' });
  const searchKey = navigator.userAgent.includes('Mac') ? '⌘ K' : 'Ctrl K';
  return h('header', { class: 'top row' }, [
    h('button', { class: 'quiet menu', popovertarget: 'navigation' }, 'Menu'),
    h('a', { class: 'brand row', ...link({ view: 'overview', query }) }, [
      h('img', { src: ICON, alt: '', width: 20 }),
      'Explore',
    ]),
    h(NamespaceChooser, { route }),
    h('button', { class: 'search', onClick: search, 'aria-keyshortcuts': 'Control+K' }, [
      'Search',
      h('kbd', { 'aria-hidden': true }, searchKey),
    ]),
    h('button', { class: 'quiet ellipsis', popovertarget: 'account' }, user?.name ?? 'Token'),
    h('div', { id: 'account', popover: 'auto' }, [
      h('div', { class: 'stack' }, [
        user && h('p', { class: 'muted' }, ['Signed in as ', h('strong', {}, user.id)]),
        user && h('a', { href: '/account' }, 'Account, sessions and password'),
        h('button', { onClick: signOut }, user ? 'Sign out' : 'Forget the token'),
      ]),
    ]),
  ]);
}

/** Only a user who chooses a namespace needs the list, of at most as many namespaces. */
const OFFERED = { sortBy: 'name', ascending: true, limit: 500 };

/** The namespace that the views show, in the parameter `namespace` of their addresses. Any namespace can be typed. */
function NamespaceChooser({ route }: { readonly route: Route }): ComponentChildren {
  const { client, kinds } = useExplore();
  const [page, setPage] = useState<ListPage>();
  const isScoped =
    route.view === 'list'
      ? kinds.get(route.resource)?.namespaced !== false
      : route.view === 'overview' || route.view === 'logs';
  if (!isScoped) return null;
  const offer = (): void => void client.lists.page('namespaces', OFFERED).then(setPage, () => undefined);
  return h(TextField, {
    id: 'namespace',
    type: 'search',
    'aria-label': 'Namespace',
    placeholder: page?.partial ? 'All your namespaces' : 'All namespaces',
    text: route.query.get('namespace') ?? '',
    apply: (text) => navigate(withQuery(route, { namespace: text.trim(), page: undefined })),
    offered: page?.items.map(({ metadata }) => metadata.name) ?? [],
    // Without the list, any namespace can still be typed.
    onFocus: offer,
  });
}
