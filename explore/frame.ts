// The frame around the views: header, navigation, banners, and the view of the current route.
import type { Client, Connection } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Banners } from './banners.ts';
import { type Explore, ExploreContext } from './context.ts';
import { Header } from './header.ts';
import { type Discovered, discover } from './kinds.ts';
import { ListView } from './list/list-view.ts';
import { LogsView } from './logs/logs-view.ts';
import { Navigation } from './navigation.ts';
import { ObjectView } from './object/object-view.ts';
import { OverviewView } from './overview/overview-view.ts';
import { link, queryOf, type Route, useRoute } from './route.ts';
import { SearchDialog } from './search/search-dialog.ts';
import type { SignedIn } from './session.ts';
import { ErrorBoundary } from './ui/error-boundary.ts';
import { useLoaded } from './ui/use-live.ts';

interface FrameProps {
  readonly session: SignedIn;
  readonly client: Client;
}

/** Discovery takes a moment: views that need a kind wait for it. */
const NOTHING: Discovered = { kinds: new Map(), groups: new Set() };

export function Frame({ session, client }: FrameProps): ComponentChildren {
  const route = useRoute();
  const discovered = useLoaded((signal) => discover(client, signal), [client]);
  const [connection, setConnection] = useState<Connection>({ state: 'open' });
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const explore = useMemo<Explore>(
    () => ({ client, ...(discovered.value ?? NOTHING), onConnection: setConnection }),
    [client, discovered.value],
  );
  // The view without its query: another place is another view, with a state of its own.
  const place = JSON.stringify({ ...route, query: undefined });
  useEffect(() => setMenuOpen(false), [place]);
  useArrival(place);
  useSearchKey(() => setSearching(true));
  return h(ExploreContext.Provider, { value: explore }, [
    h('a', { class: 'button hidden-text', href: '#view' }, 'Skip to the content'),
    h(Header, {
      ...{ route, session, isMenuOpen },
      toggleMenu: () => setMenuOpen(!isMenuOpen),
      search: () => setSearching(true),
    }),
    h('div', { class: 'columns' }, [
      h(Navigation, { route, isOpen: isMenuOpen, error: discovered.error, retry: discovered.retry }),
      h('main', { id: 'view', tabIndex: -1 }, [
        h(Banners, { session, connection }),
        h(ErrorBoundary, { key: place }, viewOf(route)),
      ]),
    ]),
    isSearching && h(SearchDialog, { close: () => setSearching(false) }),
  ]);
}

function viewOf(route: Route): ComponentChildren {
  switch (route.view) {
    case 'overview':
      return h(OverviewView, { route });
    case 'list':
      return h(ListView, { route });
    case 'object':
      return h(ObjectView, { route });
    case 'logs':
      return h(LogsView, { route });
    default:
      return [
        h('h1', {}, 'Page not found'),
        h('p', {}, [
          'No view has this address. ',
          h('a', link({ view: 'overview', query: queryOf({}) }), 'Go to the overview'),
          '.',
        ]),
      ];
  }
}

/** The heading of a view is the title of the page, and gets the focus after a navigation, as after the load of a page. */
function useArrival(place: string): void {
  const before = useRef(place);
  useEffect(() => {
    const heading = document.querySelector<HTMLElement>('#view h1');
    if (!heading) return;
    document.title = `${heading.textContent} · Explore`;
    if (before.current === place) return;
    before.current = place;
    scrollTo(0, 0);
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  });
}

function useSearchKey(search: () => void): void {
  // Before the first paint, after which the user can press the key.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      search();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}
