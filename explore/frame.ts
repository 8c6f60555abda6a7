// The frame around the views: header, navigation, banners, and the view of the current route.
import { type Client, type Connection, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
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
import { Failure, Notice } from './ui/notice.ts';
import { useNow } from './ui/relative-time.ts';
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
  const [isSearching, setSearching] = useState(false);
  const explore = useMemo<Explore>(
    () => ({ client, ...(discovered.value ?? NOTHING), onConnection: setConnection }),
    [client, discovered.value],
  );
  // The view without its query: another place is another view, with a state of its own.
  const place = JSON.stringify({ ...route, query: undefined });
  useArrival(place);
  const search = (): void => setSearching(true);
  useSearchKey(search);
  return h(ExploreContext.Provider, { value: explore }, [
    h('a', { class: 'button hidden-text', href: '#view' }, 'Skip to the content'),
    h(Header, { route, session, search }),
    h('div', { class: 'columns' }, [
      h(Navigation, { route, error: discovered.error, retry: discovered.retry }),
      h('main', { id: 'view', tabIndex: -1 }, [
        bannersOf(session, connection),
        h(ErrorBoundary, { key: place }, viewOf(route)),
      ]),
    ]),
    isSearching && h(SearchDialog, { close: () => setSearching(false) }),
  ]);
}

const EXPIRED =
  'Your sign-in has expired. The page shows the last state, and continues here after you have signed in.';

/** A sign-in that has expired, and a lost connection. Both end by themselves. */
function bannersOf(session: SignedIn, connection: Connection): ComponentChildren {
  return [
    session.expired && h(Notice, { tone: 'warn', action: ['Sign in again', session.signIn] }, EXPIRED),
    connection.state === 'waiting' &&
      h(Notice, { tone: 'warn' }, [
        // The server responds, and says why it has no list, for example.
        connection.error instanceof StatusError ? '' : 'Connection lost: ',
        `${connection.error.message}. `,
        h(Countdown, { until: connection.retryAt }),
      ]),
  ];
}

/** Screen readers read the message once, not every second. */
function Countdown({ until }: { readonly until: number }): ComponentChildren {
  const seconds = Math.ceil((until - useNow(1_000)) / 1_000);
  return h('span', { 'aria-hidden': true }, seconds > 0 ? `Next attempt in ${seconds} s.` : 'Connecting …');
}

/** Keeps the rest of the page working if a view throws. */
function ErrorBoundary({ children }: { readonly children?: ComponentChildren }): ComponentChildren {
  const [error, retry] = useErrorBoundary(console.error);
  return error ? [h('h1', {}, 'This view has failed'), h(Failure, { error, retry })] : children;
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
        h('a', link({ view: 'overview', query: queryOf({}) }), 'Go to the overview'),
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
    // On narrow screens, the menu.
    document.querySelector<HTMLElement>('#navigation:popover-open')?.hidePopover();
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
