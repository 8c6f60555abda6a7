// What the page shows in place of its views while the user is not signed in.
import { type ComponentChildren, h } from 'preact';
import type { Session, SignedIn } from './session.ts';
import { Failure } from './ui/notice.ts';

export function Gate({ session }: { readonly session: Exclude<Session, SignedIn> }): ComponentChildren {
  switch (session.state) {
    case 'starting':
      return h('main', { class: 'gate', 'aria-busy': true }, 'Signing in …');
    case 'elsewhere':
      return card('This page has another address', [
        h('p', {}, 'You can sign in only at the address that the server is configured with.'),
        h('a', { class: 'button primary', href: session.address }, `Open ${session.address}`),
      ]);
    case 'signed out':
      return card('You are signed out', [
        h('p', {}, 'Sign in to see what runs in the cluster.'),
        h('button', { class: 'primary', onClick: session.signIn }, 'Sign in'),
      ]);
    case 'failed':
      return card('You are not signed in', h(Failure, session));
    default:
      return card('Use a token', h(TokenForm, session));
  }
}

function card(title: string, content: ComponentChildren): ComponentChildren {
  return h('main', { class: 'gate card stack' }, [h('h1', {}, title), content]);
}

/** The token of a ServiceAccount, for example. It is kept in memory only. */
function TokenForm({ use }: { readonly use: (token: string) => void }): ComponentChildren {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    if (typeof token === 'string' && token.trim() !== '') use(token.trim());
  };
  return h('form', { class: 'stack', onSubmit: submit }, [
    h('p', {}, 'This server has no sign-in. Paste a token of Kubernetes, for example of this command:'),
    h('code', {}, 'kubectl create token NAME'),
    h('p', {}, 'The page keeps it until you close or reload it.'),
    h('label', { for: 'token' }, 'Token'),
    h('input', { id: 'token', name: 'token', type: 'password', autocomplete: 'off' }),
    h('button', { class: 'primary' }, 'Continue'),
  ]);
}
