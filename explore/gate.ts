// What the page shows in place of its views while the user is not signed in.
import { type ComponentChildren, h } from 'preact';
import { failure, notice } from './ui/notice.ts';

export const SIGNING_IN = h('main', { class: 'gate', 'aria-busy': true }, 'Signing in …');

function gate(title: string, ...content: ComponentChildren[]): ComponentChildren {
  return h('main', { class: 'gate card stack' }, h('h1', {}, title), content);
}

export function otherAddress(address: string): ComponentChildren {
  return gate(
    'This page has another address',
    h('p', {}, 'You can sign in only at the address that the server is configured with.'),
    h('a', { class: 'button primary', href: address }, `Open ${address}`),
  );
}

export function signedOut(signIn: () => void): ComponentChildren {
  return gate(
    'You are signed out',
    h('p', {}, 'Sign in to see what runs in the cluster.'),
    h('button', { class: 'primary', onClick: signIn }, 'Sign in'),
  );
}

export function notSignedIn(error: Error, retry: () => void): ComponentChildren {
  return gate('You are not signed in', failure(error, retry));
}

/** For a server without sign-in: the token of a ServiceAccount, for example. It is kept in memory only. */
export function tokenForm(use: (token: string) => void, isRejected: boolean): ComponentChildren {
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    if (typeof token === 'string' && token.trim() !== '') use(token.trim());
  };
  const form = h('form', { class: 'stack', onSubmit }, [
    isRejected && notice('bad', 'The server rejected the token: it is invalid, or has expired.'),
    h('p', {}, 'This server has no sign-in. Paste a token of Kubernetes, for example of this command:'),
    h('code', {}, 'kubectl create token NAME'),
    h('p', {}, 'The page keeps it until you close or reload it.'),
    h('label', { for: 'token' }, 'Token'),
    h('input', { id: 'token', name: 'token', type: 'password', autocomplete: 'off' }),
    h('button', { class: 'primary' }, 'Continue'),
  ]);
  return gate('Use a token', form);
}
