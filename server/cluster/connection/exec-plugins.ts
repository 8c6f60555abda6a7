// Authenticator that runs the exec credential plugins of a kubeconfig with a timeout.
import { isatty } from 'node:tty';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { optionalText, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { type PluginOptions, pluginName, runPlugin } from './exec-plugin.ts';

/** The auth provider by which client-node selects this authenticator; kubectl has no provider with this name. */
const PROVIDER = 'exec-plugin';

/** Four minutes, because plugins wait minutes for a sign-in in the browser. */
export const TIMEOUT_MS = 240_000;
const GRACE_MS = 2_000;
const STDIN = 0;

interface ExecCredential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Expiry in ms since the epoch; Infinity without an expiry. */
  readonly notAfter: number;
}

/** Installs the authenticator in `config`. Its credentials are cached for the lifetime of `config`. */
export function useExecPlugins(
  config: KubeConfig,
  options: Partial<PluginOptions> & Pick<PluginOptions, 'inherited'>,
): void {
  config.addAuthenticator(
    new ExecPlugins({
      timeoutMs: TIMEOUT_MS,
      graceMs: GRACE_MS,
      terminal: isatty(STDIN),
      ...options,
    }),
  );
  config.users = config.users.map(({ exec, ...user }) =>
    exec ? { ...user, authProvider: { name: PROVIDER, config: exec } } : user,
  );
}

/** Returns the name of the user's plugin for messages; undefined without a plugin. */
export function pluginOf({ authProvider }: Pick<User, 'authProvider'>): string | undefined {
  return authProvider?.name === PROVIDER ? pluginName(authProvider.config) : undefined;
}

type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0];

/**
 * The authenticator of client-node is not used, because it waits without a limit and reports errors with the output
 * of the plugin.
 */
class ExecPlugins implements Authenticator {
  readonly #options: PluginOptions;
  readonly #cached = new Map<string, ExecCredential>();

  constructor(options: PluginOptions) {
    this.#options = options;
  }

  isAuthProvider(user: User): boolean {
    return pluginOf(user) !== undefined;
  }

  async applyAuthentication(...[user, options]: Parameters<Authenticator['applyAuthentication']>) {
    const { token, cert, key } = await this.#credential(user);
    if (cert !== undefined) options.cert = cert;
    if (key !== undefined) options.key = key;
    if (token === undefined) return;
    options.headers ??= {};
    Object.assign(options.headers, { Authorization: `Bearer ${token}` });
  }

  async #credential({ name, authProvider }: User): Promise<ExecCredential> {
    const known = this.#cached.get(name);
    if (known && Date.now() < known.notAfter) return known;
    const credential = readCredential(await runPlugin(authProvider?.config, this.#options));
    if (!credential) throw new Error(`${pluginName(authProvider?.config)} printed no ExecCredential`);
    this.#cached.set(name, credential);
    return credential;
  }
}

/** Returns undefined for an output that is not an ExecCredential. */
function readCredential(printed: string): ExecCredential | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(printed);
  } catch {
    return undefined;
  }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = recordIn(parsed, 'status');
  const given = {
    token: optionalText(token),
    cert: optionalText(clientCertificateData),
    key: optionalText(clientKeyData),
  };
  if (given.token === undefined && (given.cert === undefined || given.key === undefined)) return undefined;
  const end = expirationTimestamp === undefined ? Infinity : Date.parse(text(expirationTimestamp));
  return { ...given, notAfter: Number.isNaN(end) ? 0 : end };
}
