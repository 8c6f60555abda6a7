// Starts oauth2-proxy as a child process: a program that lets people in who have signed in at an OpenID provider.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { Daemon } from '../system/daemon.ts';

interface OAuth2ProxyOptions {
  /** Folder of secrets and log; created if missing. */
  readonly dir: string;
  readonly port: number;
  readonly issuer: string;
  /** CA of the issuer, PEM. */
  readonly ca: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly signal: AbortSignal;
}

/** With the settings of docs/relying-parties.md, and a refresh of the session at each request that is a second after the last one. */
export async function startOAuth2Proxy(options: OAuth2ProxyOptions): Promise<AsyncDisposable> {
  const { dir, port, issuer, ca, client, signal } = options;
  const build = { env: process.env, signal, progress: () => undefined };
  const command = await provideGoProgram('oauth2-proxy', build);
  await mkdir(dir, { recursive: true });
  const caFile = join(dir, 'ca.crt');
  const secretFile = join(dir, 'client-secret');
  await writeFile(caFile, ca);
  await writeFile(secretFile, client.secret, { mode: 0o600 });
  const address = `127.0.0.1:${port}`;
  return Daemon.started(
    {
      name: `oauth2-proxy-${client.id}`,
      command,
      args: [
        '--provider=oidc',
        `--oidc-issuer-url=${issuer}`,
        `--provider-ca-file=${caFile}`,
        `--client-id=${client.id}`,
        `--client-secret-file=${secretFile}`,
        '--code-challenge-method=S256',
        '--scope=openid profile email groups',
        '--oidc-email-claim=sub',
        '--email-domain=*',
        `--backend-logout-url=${issuer}/logout?id_token_hint={id_token}`,
        '--cookie-refresh=1s',
        '--cookie-secure=false',
        // Ports share cookies.
        `--cookie-name=_${client.id}`,
        '--skip-provider-button',
        `--http-address=${address}`,
        `--redirect-url=http://${address}/oauth2/callback`,
        '--upstream=static://200',
      ],
      // The backend logout does not use the CA file of the provider.
      env: { OAUTH2_PROXY_COOKIE_SECRET: randomBytes(16).toString('hex'), SSL_CERT_FILE: caFile },
      logFile: join(dir, 'oauth2-proxy.log'),
      pidFile: join(dir, 'oauth2-proxy.pid'),
      ready: async (attempt) => (await fetch(`http://${address}/ping`, { signal: attempt })).ok,
    },
    signal,
  );
}
