// Banners above the view: a sign-in that has expired, and a lost connection. Both end by themselves.
import { type Connection, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import type { SignedIn } from './session.ts';
import { Notice } from './ui/notice.ts';
import { useNow } from './ui/relative-time.ts';

interface BannersProps {
  readonly session: SignedIn;
  readonly connection: Connection;
}

export function Banners({ session, connection }: BannersProps): ComponentChildren {
  return [
    session.expired &&
      h(
        Notice,
        { tone: 'warn', action: ['Sign in again', session.signIn] },
        'Your sign-in has expired. The page shows the last state, and continues here after you have signed in.',
      ),
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
