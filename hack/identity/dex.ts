// Starts Dex as a child process: an OpenID provider over TLS whose people are those of an LDAP directory.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { Daemon } from '../system/daemon.ts';
import { withPortRetry } from '../system/port-retry.ts';
import { freePort } from '../system/ports.ts';
import { responds } from './responds.ts';

interface DexOptions {
  /** Folder of the configuration and the log; created if missing. */
  readonly dir: string;
  /** Certificate and key of Dex, and the CA of both programs, PEM. */
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly ca: string;
  readonly client: { readonly id: string; readonly secret: string; readonly redirectURI: string };
  readonly directory: {
    readonly address: string;
    readonly ca: string;
    readonly bindDN: string;
    readonly bindPassword: string;
    readonly people: string;
    readonly groups: string;
  };
  readonly signal: AbortSignal;
}

/** Stops when disposed. */
export interface Dex extends AsyncDisposable {
  readonly issuer: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startDex({ dir, certificate, ca, signal, ...options }: DexOptions): Promise<Dex> {
  const command = await provideGoProgram('dex', { env: process.env, signal, progress: () => undefined });
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'tls.crt'), certificate.cert);
  await writeFile(join(dir, 'tls.key'), certificate.key, { mode: 0o600 });
  await writeFile(join(dir, 'directory-ca.crt'), options.directory.ca);
  return withPortRetry(async () => {
    const port = await freePort();
    const issuer = `https://127.0.0.1:${port}/dex`;
    await writeFile(join(dir, 'dex.json'), JSON.stringify(configuration(dir, issuer, port, options)));
    const daemon = await Daemon.started(
      {
        name: 'dex',
        command,
        args: ['serve', join(dir, 'dex.json')],
        logFile: join(dir, 'dex.log'),
        pidFile: join(dir, 'dex.pid'),
        ready: () => responds(`${issuer}/.well-known/openid-configuration`, ca),
      },
      signal,
    );
    return {
      issuer,
      stop: () => daemon.stop(),
      start: () => daemon.start(signal),
      [Symbol.asyncDispose]: () => daemon.stop(),
    };
  });
}

function configuration(
  dir: string,
  issuer: string,
  port: number,
  { client, directory }: Pick<DexOptions, 'client' | 'directory'>,
): object {
  const { address, bindDN, bindPassword, people, groups } = directory;
  return {
    issuer,
    storage: { type: 'memory' },
    web: { https: `127.0.0.1:${port}`, tlsCert: join(dir, 'tls.crt'), tlsKey: join(dir, 'tls.key') },
    oauth2: { skipApprovalScreen: true },
    staticClients: [
      { id: client.id, secret: client.secret, name: 'platform', redirectURIs: [client.redirectURI] },
    ],
    connectors: [
      {
        type: 'ldap',
        id: 'ldap',
        name: 'Directory',
        config: {
          host: address,
          rootCA: join(dir, 'directory-ca.crt'),
          bindDN,
          bindPW: bindPassword,
          userSearch: {
            baseDN: people,
            filter: '(objectClass=person)',
            username: 'uid',
            idAttr: 'entryUUID',
            emailAttr: 'mail',
            nameAttr: 'cn',
            preferredUsernameAttr: 'uid',
          },
          groupSearch: {
            baseDN: groups,
            filter: '(objectClass=groupOfNames)',
            userMatchers: [{ userAttr: 'DN', groupAttr: 'member' }],
            nameAttr: 'cn',
          },
        },
      },
    ],
  };
}
