// What the page shows in place of its views while the user is not signed in.
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import type { Session, SignedIn } from './session.ts';
import { Failure } from './ui/notice.ts';

type SignedOut = Exclude<Session, SignedIn>;

export function Gate({ session }: { readonly session: SignedOut }): ComponentChildren {
  if (session.state === 'starting')
    return h('main', { class: 'gate muted', 'aria-busy': true }, 'Signing in …');
  return h('main', { class: 'gate card' }, contentOf(session));
}

function contentOf(session: Exclude<SignedOut, { readonly state: 'starting' }>): ComponentChildren {
  switch (session.state) {
    case 'elsewhere':
      return [
        h('h1', {}, 'This page has another address'),
        h('p', {}, 'You can sign in only at the address that the server is configured with.'),
        h('a', { class: 'button primary', href: session.address }, `Open ${new URL(session.address).host}`),
      ];
    case 'signed out':
      return [
        h('h1', {}, 'You are signed out'),
        h('p', { class: 'muted' }, 'Sign in to see what runs in the cluster.'),
        h('button', { type: 'button', class: 'primary', onClick: () => void session.signIn() }, 'Sign in'),
      ];
    case 'failed':
      return [
        h('h1', {}, 'You are not signed in'),
        h(Failure, { error: session.error, retry: session.retry }),
      ];
    default:
      return h(PasteToken, { use: session.use });
  }
}

/** The token of a ServiceAccount, for example. It is kept in memory only. */
function PasteToken({ use }: { readonly use: (token: string) => void }): ComponentChildren {
  const [text, setText] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== '') use(text.trim());
  };
  return h('form', { onSubmit: submit }, [
    h('h1', {}, 'Use a token'),
    h('p', {}, [
      'This server has no sign-in (',
      h('code', {}, 'oauth.enabled'),
      '). Paste a token of Kubernetes, for example of ',
      h('code', {}, 'kubectl create token'),
      '. It is kept until you close or reload this page.',
    ]),
    h('label', { for: 'token' }, 'Token'),
    h('input', {
      id: 'token',
      type: 'password',
      autocomplete: 'off',
      spellcheck: false,
      value: text,
      onInput: ({ currentTarget }) => setText(currentTarget.value),
    }),
    h('button', { class: 'primary' }, 'Continue'),
  ]);
}
