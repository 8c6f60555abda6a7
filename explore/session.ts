// Who uses the page: a user who signs in at the server, or a token that the user pastes if the server has no sign-in.
import { SignIn, SignInRequired, type TokenSource } from 'ks-apiserver-client';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { notSignedIn, otherAddress, SIGNING_IN, signedOut, tokenForm } from './gate.ts';
import { hasSignIn, serverClock } from './page.ts';

export interface Session {
  readonly token: string | TokenSource;
  /** Undefined for a pasted token. */
  readonly user?: { readonly id: string; readonly name: string };
  /** The user must sign in again. Until then, requests wait. */
  readonly expired: boolean;
  readonly signIn: () => void;
  readonly signOut: () => void;
}

interface Shown {
  /** Undefined while the user is not signed in. */
  readonly session?: Session;
  /** In place of the views. */
  readonly gate?: ComponentChildren;
}

type Show = (shown: Shown) => void;

export const HOME = '/explore';
/** In the storage of the tab: the user has signed out, and is not sent to the sign-in again at once. */
const SIGNED_OUT = 'explore signed out';

export function newSignIn(): SignIn {
  return new SignIn({ clientId: 'explore', redirectURI: `${location.origin}${HOME}/callback` });
}

/** The session of the page. Changes when any tab signs in or out. */
export function useSession(): Shown {
  const [shown, show] = useState<Shown>({ gate: SIGNING_IN });
  useEffect(() => (hasSignIn() ? follow(newSignIn(), show) : askForToken(show)), []);
  return shown;
}

function follow(user: SignIn, show: Show): () => void {
  const signIn = (): void => {
    sessionStorage.removeItem(SIGNED_OUT);
    user.start().catch(failed);
  };
  const signOut = (): void => {
    sessionStorage.setItem(SIGNED_OUT, 'yes');
    user.end({ returnTo: `${location.origin}${HOME}` });
  };
  const token = user.waiting(() => {
    // Without a user, another tab has signed out while a request waited: the page stays signed out.
    if (user.user() !== undefined) showSignedIn(true);
  });
  const showSignedIn = (expired: boolean): void => {
    const { sub = '', name } = user.user() ?? {};
    show({ session: { token, user: { id: sub, name: name || sub }, expired, signIn, signOut } });
  };
  const begin = async (): Promise<void> => {
    try {
      await user.token();
      showSignedIn(false);
    } catch (error) {
      if (!(error instanceof SignInRequired)) throw error;
      // A user can sign in only at the address of the issuer.
      const { origin } = new URL(await user.issuer());
      if (origin !== location.origin) show({ gate: otherAddress(`${origin}${HOME}`) });
      else if (sessionStorage.getItem(SIGNED_OUT) === null) await user.start();
      else show({ gate: signedOut(signIn) });
    }
  };
  const failed = (error: Error): void => show({ gate: notSignedIn(error, start) });
  const start = (): void => void serverClock.read(HOME).then(begin).catch(failed);
  start();
  return user.onChange(() => (user.user() === undefined ? show({ gate: signedOut(signIn) }) : start()));
}

/** The token is in memory only: it ends with the page. `isRejected`: the server has rejected the previous one. */
function askForToken(show: Show, isRejected = false): void {
  const ask = (): void => askForToken(show);
  const use = (given: string): void => {
    const token: TokenSource['token'] = async ({ rejected } = {}) => {
      if (rejected !== undefined) askForToken(show, true);
      return given;
    };
    show({ session: { token: { token }, expired: false, signIn: ask, signOut: ask } });
  };
  void serverClock.read(HOME);
  show({ gate: tokenForm(use, isRejected) });
}
