// The page of the redirect URI: completes a sign-in, in the window or in the hidden frame of a renewal.
import { h, render } from 'preact';
import { HOME, newSignIn } from './session.ts';

function show(error: unknown): void {
  const failure = h('main', { class: 'gate card' }, [
    h('h1', {}, 'You are not signed in'),
    h('p', { role: 'alert' }, error instanceof Error ? error.message : String(error)),
    h('a', { class: 'button', href: HOME }, 'Start again'),
  ]);
  const page = document.querySelector('#page');
  if (page) render(failure, page);
}

newSignIn()
  .finish()
  // The address at which the sign-in was started is one of this origin.
  .then(({ returnTo }) => location.replace(new URL(returnTo, location.origin)), show);
