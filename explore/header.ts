// The header: namespace, search, and the user.
import { type ComponentChildren, h } from 'preact';
import { NamespaceChooser } from './namespace-chooser.ts';
import { link, queryOf, type Route } from './route.ts';
import type { SignedIn } from './session.ts';

const ICON = new URL('icon.svg', import.meta.url).href;

interface HeaderProps {
  readonly route: Route;
  readonly session: SignedIn;
  readonly isMenuOpen: boolean;
  readonly toggleMenu: () => void;
  readonly search: () => void;
}

export function Header({ route, session, isMenuOpen, toggleMenu, search }: HeaderProps): ComponentChildren {
  const { user, signOut } = session;
  const menu = { 'aria-expanded': isMenuOpen, 'aria-controls': 'navigation', onClick: toggleMenu };
  const query = queryOf({ namespace: route.query.get('namespace') ?? '' });
  const searchKey = navigator.userAgent.includes('Mac') ? '⌘ K' : 'Ctrl K';
  return h('header', { class: 'top row' }, [
    h('button', { class: 'quiet menu', ...menu }, 'Menu'),
    h('a', { class: 'brand', ...link({ view: 'overview', query }) }, [
      h('img', { src: ICON, alt: '', width: 20 }),
      'Explore',
    ]),
    h(NamespaceChooser, { route }),
    h('button', { class: 'search', onClick: search, 'aria-keyshortcuts': 'Control+K' }, [
      'Search',
      h('kbd', { 'aria-hidden': true }, searchKey),
    ]),
    h('button', { class: 'quiet ellipsis', popovertarget: 'account' }, user?.name ?? 'Token'),
    h('div', { id: 'account', class: 'stack', popover: 'auto' }, [
      user && h('p', { class: 'muted' }, ['Signed in as ', h('strong', {}, user.id)]),
      user && h('a', { href: '/account' }, 'Account, sessions and password'),
      h('button', { onClick: signOut }, user ? 'Sign out' : 'Forget the token'),
    ]),
  ]);
}
