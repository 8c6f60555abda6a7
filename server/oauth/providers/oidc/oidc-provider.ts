// Identity provider of type `oidc`: people sign in at the pages of an OpenID provider, with code, PKCE, state and nonce.

import * as openid from 'openid-client';
import type { Logger } from 'pino';
import { record, text } from '../../../../apis/reading/unknown-value.ts';
import { Backoff } from '../../../concurrency/backoff.ts';
import { pause } from '../../../concurrency/pause.ts';
import {
  type AuthenticatedPerson,
  type PersonEnd,
  type ProviderProblem,
  ProviderUnavailable,
  REQUEST_MS,
  type RedirectOptions,
  type RedirectProvider,
  type RedirectSecrets,
  SignInRefused,
  type SignOutOptions,
  type StoredProof,
} from '../provider.ts';
import { ClientCredential } from './client-credential.ts';
import type { OIDCSettings } from './oidc-settings.ts';
import { type Claims, mergedClaims, personOf } from './person-claims.ts';
import { failure, reasonOf } from './provider-failure.ts';
import { providerFetch } from './provider-fetch.ts';
import { checkMetadata } from './provider-metadata.ts';

interface OIDCProviderOptions {
  readonly name: string;
  readonly displayName: string;
  readonly settings: OIDCSettings;
  /** The current client secret or private key; undefined while its Secret is missing. */
  readonly secret: () => string | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Interval of discovery in ms. The last good metadata stay in use. */
const REDISCOVERY_MS = 3_600_000;
const RETRY = { initialMs: 1_000, maxMs: 60_000, random: Math.random };
/** In seconds. */
const CLOCK_TOLERANCE = 30;
/** Ten years, in seconds. */
const ANY_AGE = '315360000';
/** Maximum length of an ID token that sessions keep for the sign-out, and that fits into an address. */
const MAX_HINT = 6 * 1024;
/** Of a refresh token, which fits into an Identity when it is encrypted. */
const MAX_REFRESH_TOKEN = 8 * 1024;
/** RFC 6750, 2.1: what a header can contain. */
const ACCESS_TOKEN = /^[\x21-\x7e]+$/;

export class OIDCProvider implements RedirectProvider {
  readonly name: string;
  readonly displayName: string;
  readonly usesRefreshTokens = true;
  readonly #options: OIDCProviderOptions;
  readonly #credential: ClientCredential;
  #configuration: openid.Configuration | undefined;
  #discovering: Promise<openid.Configuration> | undefined;
  /** The next refresh token by the current one, during a revalidation. */
  readonly #next = new Map<string, string>();
  #reason: string | undefined = 'its metadata are not loaded yet';

  constructor(options: OIDCProviderOptions) {
    this.#options = options;
    this.#credential = new ClientCredential(options);
    this.name = options.name;
    this.displayName = options.displayName;
  }

  get problem(): ProviderProblem | undefined {
    const { problem: credential } = this.#credential;
    const reason = credential ?? this.#reason;
    if (reason === undefined) return undefined;
    return {
      reason,
      summary:
        credential === undefined
          ? 'its metadata cannot be read'
          : 'its client secret or private key is missing or invalid',
      notice: `${this.displayName} cannot be reached at the moment.`,
    };
  }

  get signsOut(): boolean {
    return this.#options.settings.signOut;
  }

  get warning(): string | undefined {
    if (!this.signsOut || !this.#configuration) return undefined;
    return this.#configuration.serverMetadata().end_session_endpoint === undefined
      ? 'oidc.signOut has no effect, because the metadata of the provider have no end_session_endpoint'
      : undefined;
  }

  /** Providers accept an expired ID token as the hint. */
  signOut(upstream: string | undefined, { redirectURI, state }: SignOutOptions): URL | undefined {
    if (!this.#configuration || this.warning !== undefined) return undefined;
    return openid.buildEndSessionUrl(this.#configuration, {
      post_logout_redirect_uri: redirectURI,
      state,
      ...(upstream === undefined ? {} : { id_token_hint: upstream }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(RETRY);
    while (!signal.aborted) {
      const found = await this.#discover().catch(() => undefined);
      if (found) backoff.reset();
      await pause(found ? REDISCOVERY_MS : backoff.next(), signal);
    }
  }

  async begin({ redirectURI, stateWith, loginHint, again }: RedirectOptions): Promise<URL> {
    const configuration = await this.#known();
    const { scopes, parameters } = this.#options.settings;
    const { scopes_supported: supported } = configuration.serverMetadata();
    const refreshable = supported?.includes('offline_access') && !scopes.includes('offline_access');
    const nonce = openid.randomNonce();
    const verifier = openid.randomPKCECodeVerifier();
    return openid.buildAuthorizationUrl(configuration, {
      // With max_age, a provider must send auth_time (OpenID Connect Core, 2): an open session of the provider is no recent sign-in.
      max_age: ANY_AGE,
      ...parameters,
      redirect_uri: redirectURI,
      scope: [...scopes, ...(refreshable ? ['offline_access'] : [])].join(' '),
      state: await stateWith({ nonce, verifier }),
      nonce,
      // Not all providers that support PKCE list it in their metadata, and others ignore it.
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
      // The auth_time shows whether the provider has obeyed.
      ...(again ? { prompt: 'login', max_age: '0' } : {}),
    });
  }

  async finish(
    callback: URL,
    state: string,
    { nonce, verifier }: RedirectSecrets,
  ): Promise<AuthenticatedPerson> {
    const configuration = await this.#known();
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    };
    const tokens = await openid
      .authorizationCodeGrant(configuration, callback, checks)
      .catch((error: unknown) => {
        throw failure(error);
      });
    const claims = checkTokens(tokens, this.#options.settings).claims();
    if (!claims) throw new SignInRefused('the provider sent no ID token');
    const { auth_time: authTime } = claims;
    const found = await this.#person(configuration, tokens, claims.sub, claims);
    return authTime === undefined ? found : { ...found, authTime: authTime * 1000 };
  }

  async revalidate({
    issuer,
    subject,
    refreshToken: current,
  }: StoredProof): Promise<AuthenticatedPerson | PersonEnd> {
    if (issuer !== this.#options.settings.issuer) return 'gone';
    // The person signs in again.
    if (current === undefined) return 'not confirmable';
    const configuration = await this.#known();
    try {
      const tokens = checkTokens(
        await openid.refreshTokenGrant(configuration, current),
        this.#options.settings,
      );
      const claims = tokens.claims();
      if (claims && claims.sub !== subject) return 'gone';
      return await this.#person(configuration, tokens, subject, claims);
    } catch (error) {
      if (error instanceof openid.ResponseBodyError && error.error === 'invalid_grant') return 'gone';
      const failed = error instanceof Error ? failure(error) : error;
      throw failed instanceof Error
        ? new ProviderUnavailable(failed.message, { cause: error, refreshToken: this.#next.get(current) })
        : failed;
    } finally {
      this.#next.delete(current);
    }
  }

  /**
   * The library returns no token while it cannot verify the ID token, for instance without the keys. The provider has replaced the refresh
   * token before, and may take a second use of the earlier one for a theft.
   */
  #keepingNext(fetch: openid.CustomFetch): openid.CustomFetch {
    return async (url, options) => {
      const response = await fetch(url, options);
      const current = options.body instanceof URLSearchParams ? options.body.get('refresh_token') : null;
      if (current === null || !response.ok) return response;
      const body: unknown = await response
        .clone()
        .json()
        .catch(() => undefined);
      const next = text(record(body)['refresh_token']);
      if (next !== '' && next.length <= MAX_REFRESH_TOKEN) this.#next.set(current, next);
      return response;
    };
  }

  async #person(
    configuration: openid.Configuration,
    tokens: openid.TokenEndpointResponse,
    subject: string,
    claims: Claims | undefined,
  ): Promise<AuthenticatedPerson> {
    const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
    // RFC 6749, 7.1. The library also accepts DPoP, and then sends the token without a proof.
    if (endpoint !== undefined && tokens.token_type !== 'bearer') {
      throw new SignInRefused(`the access token has the type ${tokens.token_type}, must be Bearer`);
    }
    const more =
      endpoint === undefined
        ? undefined
        : await openid.fetchUserInfo(configuration, tokens.access_token, subject).catch((error: unknown) => {
            throw failure(error);
          });
    if (!claims && !more) throw new ProviderUnavailable('the provider sent no claims about the person');
    const { settings } = this.#options;
    const person = personOf(settings.issuer, subject, mergedClaims(claims, more), settings.claims);
    const { id_token: idToken = '', refresh_token: refreshToken } = tokens;
    const isKept = settings.signOut && idToken !== '' && idToken.length <= MAX_HINT;
    return { person, refreshToken, ...(isKept ? { upstream: idToken } : {}) };
  }

  async #known(): Promise<openid.Configuration> {
    const { problem } = this.#credential;
    if (problem !== undefined) throw new ProviderUnavailable(problem);
    return this.#configuration ?? this.#discover();
  }

  /** Concurrent calls share one discovery. */
  #discover(): Promise<openid.Configuration> {
    this.#discovering ??= this.#discovered().finally(() => {
      this.#discovering = undefined;
    });
    return this.#discovering;
  }

  async #discovered(): Promise<openid.Configuration> {
    const { name, settings, log } = this.#options;
    try {
      const found = await openid.discovery(
        new URL(settings.issuer),
        settings.clientID,
        { [openid.clockTolerance]: CLOCK_TOLERANCE },
        this.#credential.authenticate,
        {
          timeout: REQUEST_MS / 1000,
          [openid.customFetch]: this.#keepingNext(await providerFetch(settings.caFile)),
          execute: [openid.enableNonRepudiationChecks],
        },
      );
      checkMetadata(found.serverMetadata(), settings.issuer);
      if (this.#reason !== undefined) log.info({ provider: name }, 'identity provider is available');
      const warned = this.warning;
      this.#configuration = found;
      this.#reason = undefined;
      const { warning } = this;
      if (warning !== undefined && warning !== warned) log.warn({ provider: name }, warning);
      return found;
    } catch (error) {
      const reason = `cannot read the metadata of ${settings.issuer}: ${reasonOf(error)}`;
      if (this.#reason !== reason) log.warn({ provider: name, reason }, 'identity provider is not available');
      this.#reason = reason;
      if (this.#configuration) return this.#configuration;
      throw new ProviderUnavailable(reason, { cause: error });
    }
  }
}

/** Throws SignInRefused for tokens of another client, and for tokens that cannot be sent or stored. */
function checkTokens<Tokens extends openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers>(
  tokens: Tokens,
  { clientID }: Pick<OIDCSettings, 'clientID'>,
): Tokens {
  // OpenID Connect Core, 3.1.3.7. The library compares it only if there are several audiences.
  const { azp = clientID } = tokens.claims() ?? {};
  if (azp !== clientID) throw new SignInRefused('the ID token was issued to another client (azp)');
  const { access_token: access, refresh_token: refresh = '' } = tokens;
  if (!ACCESS_TOKEN.test(access)) throw new SignInRefused('the access token is not ASCII without spaces');
  if (refresh.length <= MAX_REFRESH_TOKEN) return tokens;
  throw new SignInRefused(`the refresh token is longer than ${MAX_REFRESH_TOKEN} characters`);
}
