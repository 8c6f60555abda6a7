// The page of the redirect URI: completes a sign-in, in the window or in the hidden frame of a renewal.
import { newSignIn } from './session.ts';

const HOME = '/explore';

/** The address at which the sign-in was started is one of this origin. */
function show(message: string): void {
  const text = Object.assign(document.createElement('p'), { textContent: message });
  text.setAttribute('role', 'alert');
  const again = Object.assign(document.createElement('a'), {
    textContent: 'Start again',
    href: HOME,
    className: 'button',
  });
  const heading = Object.assign(document.createElement('h1'), { textContent: 'You are not signed in' });
  const card = Object.assign(document.createElement('main'), { className: 'gate card' });
  card.append(heading, text, again);
  document.querySelector('#page')?.replaceChildren(card);
}

newSignIn()
  .finish()
  .then(
    ({ returnTo }) => location.replace(new URL(returnTo, location.origin)),
    (error: unknown) => show(error instanceof Error ? error.message : String(error)),
  );
