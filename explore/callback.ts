// The page of the redirect URI: completes a sign-in, in the window or in the hidden frame of a renewal.
import { notSignedIn } from './gate.ts';
import { renderPage } from './page.ts';
import { HOME, newSignIn } from './session.ts';

const retry = (): void => location.replace(HOME);

newSignIn()
  .finish()
  .then(
    // The address at which the sign-in was started is one of this origin.
    ({ returnTo }) => location.replace(new URL(returnTo, location.origin)),
    (error) => renderPage(notSignedIn(error, retry)),
  );
