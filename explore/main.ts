// The page, which starts in the browser.
import { Client } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useMemo } from 'preact/hooks';
import { Frame } from './frame.ts';
import { Gate } from './gate.ts';
import { platformName, renderPage } from './page.ts';
import { useSession } from './session.ts';

renderPage(h(App, {}));

/** The frame with the view of the current route, or the gate while the user is not signed in. */
function App(): ComponentChildren {
  const session = useSession();
  const token = session.state === 'signed in' ? session.token : undefined;
  const client = useMemo(() => token && new Client({ token, platform: platformName() }), [token]);
  if (session.state !== 'signed in') return h(Gate, { session });
  // Another user gets another page, without what the last one saw.
  return client && h(Frame, { session, client, key: session.user?.id });
}
