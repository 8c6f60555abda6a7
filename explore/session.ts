// Who uses the page: a user who signs in at the server, or a token that the user pastes if the server has no sign-in.
import { SignIn, SignInRequired, type TokenSource } from 'ks-apiserver-client';
import { useEffect, useState } from 'preact/hooks';
import { hasSignIn } from './page.ts';

export type Session =
  | { readonly state: 'starting' }
  /** The page has another address than the issuer, at whose address alone a user can sign in. */
  | { readonly state: 'elsewhere'; readonly address: string }
  | { readonly state: 'signed out'; readonly signIn: () => void }
  /** The server has no sign-in. */
  | { readonly state: 'without sign-in'; readonly use: (token: string) => void }
  | { readonly state: 'failed'; readonly error: Error; readonly retry: () => void }
  | SignedIn;

export interface SignedIn {
  readonly state: 'signed in';
  readonly token: string | TokenSource;
  /** Undefined for a pasted token. */
  readonly user?: { readonly id: string; readonly name: string };
  /** The user must sign in again. Until then, requests wait. */
  readonly expired: boolean;
  readonly signIn: () => void;
  readonly signOut: () => void;
}

type Show = (session: Session) => void;

export const HOME = '/explore';
/** In the storage of the tab: the user has signed out, and is not sent to the sign-in again at once. */
const SIGNED_OUT = 'explore signed out';

export function newSignIn(): SignIn {
  return new SignIn({ clientId: 'explore', redirectURI: `${location.origin}${HOME}/callback` });
}

/** The session of the page. Changes when any tab signs in or out. */
export function useSession(): Session {
  const [session, setSession] = useState<Session>({ state: 'starting' });
  useEffect(() => (hasSignIn() ? follow(newSignIn(), setSession) : askForToken(setSession)), []);
  return session;
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
    show({ state: 'signed in', token, user: { id: sub, name: name || sub }, expired, signIn, signOut });
  };
  const begin = async (): Promise<void> => {
    try {
      await user.token();
      showSignedIn(false);
    } catch (error) {
      if (!(error instanceof SignInRequired)) throw error;
      const { origin } = new URL(await user.issuer());
      if (origin !== location.origin) show({ state: 'elsewhere', address: `${origin}${HOME}` });
      else if (sessionStorage.getItem(SIGNED_OUT) === null) await user.start();
      else show({ state: 'signed out', signIn });
    }
  };
  const failed = (error: Error): void => show({ state: 'failed', error, retry: start });
  const start = (): void => void begin().catch(failed);
  start();
  return user.onChange(() => (user.user() === undefined ? show({ state: 'signed out', signIn }) : start()));
}

/** The token is in memory only: it ends with the page. */
function askForToken(show: Show): void {
  const ask = (): void => askForToken(show);
  show({
    state: 'without sign-in',
    use: (token) => show({ state: 'signed in', token, expired: false, signIn: ask, signOut: ask }),
  });
}
