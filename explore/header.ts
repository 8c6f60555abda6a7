// The header: namespace, search, colour scheme, and the user.
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
      h('kbd', { 'aria-hidden': true }, isMac() ? '⌘ K' : 'Ctrl K'),
    ]),
    h(Account, { session }),
  ]);
}

function isMac(): boolean {
  return navigator.userAgent.includes('Mac');
}

function Account({ session }: { readonly session: SignedIn }): ComponentChildren {
  const { user, signOut } = session;
  return h('details', { class: 'account', onFocusOut: closeOnLeave, onKeyDown: closeOnEscape }, [
    h('summary', { class: 'button quiet' }, user?.name ?? 'Token'),
    h('div', { class: 'card' }, [
      user && h('p', { class: 'muted' }, ['Signed in as ', h('strong', {}, user.id)]),
      user && h('a', { href: '/account' }, 'Account, sessions and password'),
      h(SchemeChoice, {}),
      h('button', { type: 'button', onClick: signOut }, user ? 'Sign out' : 'Forget the token'),
    ]),
  ]);
}

function closeOnLeave({ currentTarget, relatedTarget }: FocusEvent): void {
  if (!(currentTarget instanceof HTMLDetailsElement)) return;
  if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) currentTarget.open = false;
}

function closeOnEscape({ currentTarget, key }: KeyboardEvent): void {
  if (key !== 'Escape' || !(currentTarget instanceof HTMLDetailsElement)) return;
  currentTarget.open = false;
  currentTarget.querySelector('summary')?.focus();
}

const SCHEMES = ['system', 'light', 'dark'] as const;
/** In the storage of the browser. */
const SCHEME = 'explore colour scheme';

function storedScheme(): string {
  const stored = localStorage.getItem(SCHEME);
  return SCHEMES.find((scheme) => scheme === stored) ?? 'system';
}

/** Applies the scheme that the user has chosen before. */
export function applyScheme(): void {
  document.documentElement.dataset['scheme'] = storedScheme();
}

function SchemeChoice(): ComponentChildren {
  const choose = ({ currentTarget }: Event): void => {
    if (!(currentTarget instanceof HTMLSelectElement)) return;
    localStorage.setItem(SCHEME, currentTarget.value);
    applyScheme();
  };
  return h('label', {}, [
    'Colours ',
    h(
      'select',
      { onChange: choose },
      SCHEMES.map((scheme) => h('option', { value: scheme, selected: scheme === storedScheme() }, scheme)),
    ),
  ]);
}
