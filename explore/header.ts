// The header: namespace, search, colour scheme, and the user.
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { NamespaceChooser } from './namespace-chooser.ts';
import { link, queryOf, type Route } from './route.ts';
import type { SignedIn } from './session.ts';
import { Select } from './ui/select.ts';

const ICON = new URL('icon.svg', import.meta.url).href;

interface HeaderProps {
  readonly route: Route;
  readonly session: SignedIn;
  readonly isMenuOpen: boolean;
  readonly toggleMenu: () => void;
  readonly search: () => void;
}

export function Header({ route, session, isMenuOpen, toggleMenu, search }: HeaderProps): ComponentChildren {
  const home: Route = { view: 'overview', query: queryOf({ namespace: route.query.get('namespace') ?? '' }) };
  return h('header', { class: 'top' }, [
    h(
      'button',
      {
        type: 'button',
        class: 'quiet menu',
        'aria-expanded': isMenuOpen,
        'aria-controls': 'navigation',
        onClick: toggleMenu,
      },
      'Menu',
    ),
    h('a', { class: 'brand', ...link(home) }, [h('img', { src: ICON, alt: '' }), 'Explore']),
    h(NamespaceChooser, { route }),
    h('button', { type: 'button', class: 'search', onClick: search, 'aria-keyshortcuts': 'Control+K' }, [
      'Search',
      h('kbd', { 'aria-hidden': true }, navigator.userAgent.includes('Mac') ? '⌘ K' : 'Ctrl K'),
    ]),
    h(Account, { session }),
  ]);
}

function Account({ session }: { readonly session: SignedIn }): ComponentChildren {
  const { user, signOut } = session;
  return [
    h('button', { type: 'button', class: 'quiet user', popovertarget: 'account' }, user?.name ?? 'Token'),
    h('div', { id: 'account', class: 'card', popover: 'auto' }, [
      user && h('p', { class: 'muted' }, ['Signed in as ', h('strong', {}, user.id)]),
      user && h('a', { href: '/account' }, 'Account, sessions and password'),
      h('label', {}, ['Colours ', h(SchemeChoice, {})]),
      h('button', { type: 'button', onClick: signOut }, user ? 'Sign out' : 'Forget the token'),
    ]),
  ];
}

/** Values of the CSS property `color-scheme`. */
const SCHEMES = { system: 'light dark', light: 'light', dark: 'dark' };
/** In the storage of the browser. */
const SCHEME = 'explore colour scheme';

/** Applies the scheme that the user has chosen before. */
export function applyScheme(): void {
  document.documentElement.style.colorScheme = localStorage.getItem(SCHEME) ?? SCHEMES.system;
}

function SchemeChoice(): ComponentChildren {
  const [scheme, setScheme] = useState(localStorage.getItem(SCHEME) ?? SCHEMES.system);
  const choose = (value: string): void => {
    localStorage.setItem(SCHEME, value);
    applyScheme();
    setScheme(value);
  };
  const options = Object.fromEntries(Object.entries(SCHEMES).map(([name, value]) => [value, name]));
  return h(Select, { label: 'Colours', value: scheme, options, choose });
}
