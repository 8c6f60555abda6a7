// The frame around the views: header, navigation, banners, and the view of the current route.
import { type Client, type Connection, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, type FunctionComponent, h } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { discover, type Explore, ExploreContext } from './context.ts';
import { Header } from './header.ts';
import { ListView } from './list/list-view.ts';
import { LogsView } from './logs/logs-view.ts';
import { Navigation } from './navigation.ts';
import { ObjectView } from './object/object-view.ts';
import { OverviewView } from './overview/overview-view.ts';
import { changedURL, navigate, overviewURL, type Route, useRoute } from './route.ts';
import { SearchDialog } from './search/search-dialog.ts';
import type { Session } from './session.ts';
import { failure, notice } from './ui/notice.ts';
import { useLoaded } from './ui/use-live.ts';
import { useNow } from './ui/values.ts';

interface FrameProps {
  readonly session: Session;
  readonly client: Client;
}

/** Discovery takes a moment: views that need a kind wait for it. */
const UNDISCOVERED = { kinds: new Map(), groups: new Set<string>() };

export function Frame({ session, client }: FrameProps): ComponentChildren {
  const route = useRoute();
  const discovered = useLoaded((signal) => discover(client, signal), [client]);
  const [connection, setConnection] = useState<Connection>({ state: 'open' });
  const [isSearching, setSearching] = useState(false);
  const explore = useMemo<Explore>(() => {
    const change: Explore['change'] = (changes, options) => navigate(changedURL(route, changes), options);
    return { client, route, change, onConnection: setConnection, ...(discovered.value ?? UNDISCOVERED) };
  }, [client, route, discovered.value]);
  // The view without its query: another place is another view, with a state of its own.
  const place = JSON.stringify({ ...route, query: undefined });
  useArrival(place);
  const search = (): void => setSearching(true);
  useSearchKey(search);
  return h(ExploreContext.Provider, { value: explore }, [
    h('a', { class: 'button hidden-text', href: '#view' }, 'Skip to the content'),
    h(Header, { session, search }),
    h('div', { class: 'columns' }, [
      h(Navigation, discovered),
      h('main', { id: 'view', class: 'stack', tabIndex: -1 }, [
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
function bannersOf(session: Session, connection: Connection): ComponentChildren {
  return [
    session.expired && notice('warn', EXPIRED, ['Sign in again', session.signIn]),
    connection.state === 'waiting' &&
      notice('warn', [
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
  return error ? [h('h1', {}, 'This view has failed'), failure(error, retry)] : children;
}

/** The component of each view, and the number of names in its path. */
const VIEWS: Readonly<Record<string, readonly [View: FunctionComponent, names: number]>> = {
  '': [OverviewView, 0],
  lists: [ListView, 1],
  objects: [ObjectView, 3],
  logs: [LogsView, 0],
};

function viewOf({ view, names }: Route): ComponentChildren {
  const [View, count] = (Object.hasOwn(VIEWS, view) && VIEWS[view]) || [];
  if (View && count === names.length) return h(View, {});
  return [h('h1', {}, 'Page not found'), h('a', { href: overviewURL() }, 'Go to the overview')];
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
