// The exec authenticator for client-node, with a timeout. client-node's own waits for a plugin without limit, and
// repeats the plugin's output in errors.
import { isatty } from 'node:tty';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { optionalText, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { type PluginOptions, pluginName, runPlugin } from './exec-plugin.ts';

/** Provider name by which client-node selects this authenticator; kubectl has no provider of this name. */
const PROVIDER = 'exec-plugin';

/** Longer than plugins wait for a browser sign-in. */
const TIMEOUT_MS = 240_000;
const GRACE_MS = 2_000;
const STDIN = 0;

interface ExecCredential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Ms since the epoch; Infinity without an expiry. */
  readonly notAfter: number;
}

/** Installs this authenticator. Its credentials are cached as long as this KubeConfig. */
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

/** Name of the user's plugin in messages; undefined without a plugin. */
export function pluginOf({ authProvider }: Pick<User, 'authProvider'>): string | undefined {
  return authProvider?.name === PROVIDER ? pluginName(authProvider.config) : undefined;
}

type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0];

class ExecPlugins implements Authenticator {
  readonly #options: PluginOptions;
  readonly #given = new Map<string, ExecCredential>();

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
    const known = this.#given.get(name);
    if (known && Date.now() < known.notAfter) return known;
    const given = readCredential(await runPlugin(authProvider?.config, this.#options));
    if (!given) throw new Error(`${pluginName(authProvider?.config)} printed no ExecCredential`);
    this.#given.set(name, given);
    return given;
  }
}

/** Undefined for any output that is not an ExecCredential. */
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
