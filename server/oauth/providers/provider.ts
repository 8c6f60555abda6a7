// Interfaces of identity providers, which authenticate people for this server. A provider knows no accounts;
// identities.ts maps its people to users.
import type { CallContext } from '../../cluster/call-context.ts';

/** What a provider says about a person. Hostile until identities.ts has mapped it. */
export interface UpstreamPerson {
  /** The authority within which `subject` is unique: `iss` of OpenID Connect; the root of a directory. */
  readonly issuer: string;
  /** Never given to another person: `sub`; `entryUUID` or `objectGUID`. */
  readonly subject: string;
  /** Value of the configured claim or attribute, from which the name of a new user is derived. */
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly displayName?: string | undefined;
  readonly groups: readonly string[];
  /** Authentication methods (RFC 8176) of a directory. The claim of an OpenID provider is not used. */
  readonly amr?: readonly string[] | undefined;
}

/** Timeout in ms of a request to an OpenID provider, while the person waits for the page. */
export const REQUEST_MS = 8_000;

/** A person, and what the next revalidation needs. */
export interface AuthenticatedPerson {
  readonly person: UpstreamPerson;
  /** State of the provider for this session, such as the version of the password. */
  readonly upstream?: string | undefined;
  /** The next token of the person, for all sessions. It is valid once. */
  readonly refreshToken?: string | undefined;
  /** When the person was authenticated, in ms since the epoch, if the provider says so. */
  readonly authTime?: number | undefined;
}

/** What is stored about a person and a session. */
export interface StoredProof
  extends Pick<UpstreamPerson, 'issuer' | 'subject'>,
    Pick<AuthenticatedPerson, 'upstream' | 'refreshToken'> {}

/**
 * Why a person may no longer use a session. `not confirmable`: the provider cannot be asked about this session, which says nothing
 * about other sessions of the person.
 */
export type PersonEnd = 'gone' | 'disabled' | 'password changed' | 'not confirmable';

/** Why a provider does not work. */
export interface ProviderProblem {
  /** For the log: what is wrong, with addresses and names of options. */
  readonly reason: string;
  /** For `/readyz?verbose`, which is public: without addresses, names of Secrets, and text of the provider. */
  readonly summary: string;
  /** For users, without details. */
  readonly notice: string;
}

export interface Provider {
  /** Name in the configuration. */
  readonly name: string;
  readonly displayName: string;
  /** Undefined while the provider works. */
  readonly problem: ProviderProblem | undefined;
  /** An option that has no effect at this provider, for administrators. */
  readonly warning?: string | undefined;
  /** Whether a revalidation needs a refresh token. */
  readonly usesRefreshTokens: boolean;
  /**
   * Whether the person still exists and is enabled. Throws ProviderUnavailable without a reliable response, because an outage is never
   * a reason to end a session.
   */
  revalidate(proof: StoredProof, call: CallContext): Promise<AuthenticatedPerson | PersonEnd>;
  /** Checks the provider in the background until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Why a provider does not accept a password. Every rejection after `wrong_password` is known only with the right password, so the
 * person may learn it.
 */
export type PasswordRejection =
  | 'unknown_user'
  | 'wrong_password'
  | 'disabled'
  | 'expired'
  | 'must_change'
  | 'restricted';

export interface PasswordAttempt extends CallContext {
  /** As typed. */
  readonly user: string;
  readonly password: string;
  /**
   * Called before the password is verified, with the subject that the name resolves to: different spellings of a name resolve to one
   * subject, and an unknown name to one of its own. Its error prevents the verification.
   */
  readonly resolved: (person: Pick<UpstreamPerson, 'issuer' | 'subject'>) => Promise<void>;
}

/** A provider that verifies a password. */
export interface PasswordProvider extends Provider {
  /** Throws ProviderUnavailable. */
  signIn(attempt: PasswordAttempt): Promise<AuthenticatedPerson | PasswordRejection>;
}

/** What the server must know when the browser comes back from the provider. Secret from the browser. */
export interface RedirectSecrets {
  readonly nonce: string;
  readonly verifier: string;
}

export interface RedirectOptions {
  readonly redirectURI: string;
  /** Creates the parameter `state`, from which the secrets can be read again. */
  readonly stateWith: (secrets: RedirectSecrets) => Promise<string>;
  /** The user name that the person has typed. */
  readonly loginHint?: string | undefined;
  /** The person must authenticate again, even with a session at the provider. */
  readonly again?: boolean;
}

export interface SignOutOptions {
  /** The post_logout_redirect_uri of this server. */
  readonly redirectURI: string;
  readonly state: string;
}

/** A provider at whose own pages people sign in. */
export interface RedirectProvider extends Provider {
  /** Whether people sign out there too. */
  readonly signsOut?: boolean;
  /**
   * The address that ends the session of the person at the provider; undefined if there is none. `upstream`: the state of the provider in
   * the session.
   */
  signOut?(upstream: string | undefined, options: SignOutOptions): URL | undefined;
  /** Throws ProviderUnavailable. */
  begin(options: RedirectOptions): Promise<URL>;
  /**
   * `callback`: the redirect URI with the parameters that the provider has added. `state`: the one that its secrets were read from.
   * Throws SignInRefused, ProviderUnavailable.
   */
  finish(callback: URL, state: string, secrets: RedirectSecrets): Promise<AuthenticatedPerson>;
}

/** The provider did not authenticate the person, or its response was not valid. The message is for administrators. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
}

/** The provider gave no reliable response. The message is for administrators. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
  /** The next token, if the outage began after its use. */
  readonly refreshToken: string | undefined;

  constructor(message: string, options: ErrorOptions & Pick<AuthenticatedPerson, 'refreshToken'> = {}) {
    super(message, options);
    this.refreshToken = options.refreshToken;
  }
}
