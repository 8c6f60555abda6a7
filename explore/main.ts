// The page, which starts in the browser.
import { Client } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useMemo } from 'preact/hooks';
import { Frame } from './frame.ts';
import { platformName, renderPage } from './page.ts';
import { useSession } from './session.ts';

renderPage(h(App, {}));

/** The frame with the view of the current route, or what is in its place while the user is not signed in. */
function App(): ComponentChildren {
  const { session, gate } = useSession();
  const token = session?.token;
  const client = useMemo(() => token && new Client({ token, platform: platformName() }), [token]);
  // Another user gets another page, without what the last one saw.
  return session && client ? h(Frame, { session, client, key: session.user?.id }) : gate;
}
