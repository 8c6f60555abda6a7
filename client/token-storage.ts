// The tokens of a sign-in, in the storage of the browser, which all tabs of an origin share.

export interface Tokens {
  readonly accessToken: string;
  readonly idToken: string;
  readonly refreshToken?: string | undefined;
  /** When to renew the tokens, by the clock of this browser in ms, so that its difference from the server does not matter. */
  readonly validUntil: number;
}

/** Claims of an ID token (OpenID Connect Core, 2). */
export interface UserClaims {
  readonly sub: string;
  readonly name?: string;
  readonly email?: string;
  readonly groups?: readonly string[];
  readonly [claim: string]: unknown;
}

export class TokenStorage {
  readonly #given: Storage | undefined;
  readonly #key: string;
  readonly #listeners = new Set<() => void>();

  /** `storage`: `localStorage` by default. `key`: differs for each server and client. */
  constructor(storage: Storage | undefined, key: string) {
    this.#given = storage;
    this.#key = key;
  }

  /** Throws in a browser that blocks cookies. */
  get #storage(): Storage {
    return this.#given ?? localStorage;
  }

  read(): Tokens | undefined {
    try {
      const value: unknown = JSON.parse(this.#storage.getItem(this.#key) ?? 'null');
      if (!isTokens(value)) return undefined;
      // Another script of the origin can have written anything. Tokens that cannot be read are none, so that the user can sign in.
      return typeof claimsOf(value.idToken).sub === 'string' ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Undefined removes the tokens. */
  write(tokens: Tokens | undefined): void {
    if (tokens === undefined) this.#storage.removeItem(this.#key);
    else this.#storage.setItem(this.#key, JSON.stringify(tokens));
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each change, also by another tab. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    const changed = ({ key }: StorageEvent): void => {
      // `null`: the whole storage was cleared.
      if (key === this.#key || key === null) listener();
    };
    // A page that the browser has kept for the Back button has missed the changes.
    const restored = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) listener();
    };
    this.#listeners.add(listener);
    addEventListener('storage', changed);
    addEventListener('pageshow', restored);
    return () => {
      this.#listeners.delete(listener);
      removeEventListener('storage', changed);
      removeEventListener('pageshow', restored);
    };
  }
}

function isTokens(value: unknown): value is Tokens {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['accessToken', 'idToken'].every((name) => typeof Reflect.get(value, name) === 'string') &&
    typeof Reflect.get(value, 'validUntil') === 'number'
  );
}

/** The claims of a JWT. Its signature is not verified: it came over TLS from the server (OpenID Connect Core, 3.1.3.7). */
export function claimsOf(token: string): UserClaims {
  const [, payload = ''] = token.split('.');
  const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );
  return JSON.parse(new TextDecoder().decode(bytes)) as UserClaims;
}
