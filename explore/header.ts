// The header: namespace, search, and the user.
import type { ListPage } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from './context.ts';
import { overviewURL } from './route.ts';
import type { Session } from './session.ts';
import { TextField } from './ui/controls.ts';

const ICON = new URL('icon.svg', import.meta.url).href;

interface HeaderProps {
  readonly session: Session;
  readonly search: () => void;
}

export function Header({ session, search }: HeaderProps): ComponentChildren {
  const { route } = useExplore();
  const { user, signOut } = session;
  const href = overviewURL({ namespace: route.query.get('namespace') ?? '' });
  const searchKey = navigator.userAgent.includes('Mac') ? '⌘ K' : 'Ctrl K';
  return h('header', { class: 'top row' }, [
    h('button', { class: 'quiet menu', popovertarget: 'navigation' }, 'Menu'),
    h('a', { class: 'row item', href }, [
      h('img', { src: ICON, alt: '', width: 20 }),
      h('strong', {}, 'Explore'),
    ]),
    h(NamespaceChooser, {}),
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
function NamespaceChooser(): ComponentChildren {
  const { client, kinds, route, change } = useExplore();
  const [page, setPage] = useState<ListPage>();
  const { view, names } = route;
  const isClusterScoped = view === 'lists' && kinds.get(names[0] ?? '')?.namespaced === false;
  // Logs have a filter for several namespaces.
  if (isClusterScoped || !['', 'lists'].includes(view)) return null;
  const offer = (): void => void client.lists.page('namespaces', OFFERED).then(setPage, () => undefined);
  return h(TextField, {
    id: 'namespace',
    type: 'search',
    'aria-label': 'Namespace',
    placeholder: page?.partial ? 'All your namespaces' : 'All namespaces',
    text: route.query.get('namespace') ?? '',
    apply: (text) => change({ namespace: text.trim(), page: undefined }),
    offered: page?.items.map(({ metadata }) => metadata.name) ?? [],
    // Without the list, any namespace can still be typed.
    onFocus: offer,
  });
}
