// Starts Apache with mod_auth_openidc as a child process, from unpacked Debian packages: a web site for people who have
// signed in at an OpenID provider.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { librariesIn, provideDebianPackages } from '../artifacts/debian-packages.ts';
import { Daemon } from '../system/daemon.ts';

/** With the libraries that Debian does not always install. */
const PACKAGES = [
  'apache2-bin',
  'libapache2-mod-auth-openidc',
  'libapr1',
  'libaprutil1',
  'libcjose0',
  'libcurl4',
  'libhiredis0.14',
  'libjansson4',
] as const;
const MODULES = [
  'mpm_event',
  'authn_core',
  'authz_core',
  'authz_user',
  'auth_openidc',
  'dir',
  'headers',
] as const;

interface ApacheOptions {
  readonly port: number;
  readonly issuer: string;
  /** CA of the issuer, PEM. */
  readonly ca: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** The group whose members can open `/group`; those of another group can open `/other-group`. */
  readonly group: string;
  readonly signal: AbortSignal;
}

/** The folder of the unpacked packages. */
export async function provideApache(options: BuildOptions): Promise<string> {
  const packages = { title: 'Apache with mod_auth_openidc', name: 'apache', folders: { root: PACKAGES } };
  return join(await provideDebianPackages(packages, options), 'root');
}

/** With the settings of docs/relying-parties.md. Its pages have the user and the groups in headers. */
export async function startApache({ signal, ...options }: ApacheOptions): Promise<AsyncDisposable> {
  const installed = await provideApache({ env: process.env, signal, progress: () => undefined });
  // If root starts Apache, its workers are another user, who cannot read a private TMPDIR.
  const dir = await mkdtemp('/tmp/apache-');
  await chmod(dir, 0o755);
  await mkdir(join(dir, 'pages'));
  for (const page of ['index.html', 'group', 'other-group'])
    await writeFile(join(dir, 'pages', page), 'a page of Apache');
  await writeFile(join(dir, 'ca.crt'), options.ca);
  const file = join(dir, 'apache.conf');
  await writeFile(file, configuration(installed, dir, options), { mode: 0o600 });
  const daemon = await Daemon.started(
    {
      name: 'apache',
      command: join(installed, 'usr/sbin/apache2'),
      args: ['-DFOREGROUND', '-f', file],
      env: { LD_LIBRARY_PATH: librariesIn(installed) },
      logFile: join(dir, 'error.log'),
      pidFile: join(dir, 'daemon.pid'),
      ready: async (attempt) => {
        const request = { redirect: 'manual', signal: attempt } as const;
        return (await fetch(`http://127.0.0.1:${options.port}/`, request)).status < 500;
      },
    },
    signal,
  );
  return {
    [Symbol.asyncDispose]: async () => {
      await daemon.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function configuration(
  installed: string,
  dir: string,
  { port, issuer, client, group }: Omit<ApacheOptions, 'signal'>,
): string {
  const modules = join(installed, 'usr/lib/apache2/modules');
  const address = `http://127.0.0.1:${port}`;
  return [
    ...MODULES.map((name) => `LoadModule ${name}_module ${join(modules, `mod_${name}.so`)}`),
    `ServerRoot ${dir}`,
    'ServerName 127.0.0.1',
    `Listen 127.0.0.1:${port}`,
    `PidFile ${join(dir, 'apache.pid')}`,
    `DefaultRuntimeDir ${dir}`,
    'ErrorLog /dev/stderr',
    ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
    `DocumentRoot ${join(dir, 'pages')}`,
    'DirectoryIndex index.html',
    `OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration`,
    `OIDCCABundlePath ${join(dir, 'ca.crt')}`,
    `OIDCClientID ${client.id}`,
    `OIDCClientSecret "${client.secret}"`,
    `OIDCRedirectURI ${address}/oauth2/callback`,
    'OIDCPKCEMethod S256',
    'OIDCRemoteUserClaim sub',
    'OIDCScope "openid groups"',
    `OIDCCryptoPassphrase ${randomBytes(16).toString('hex')}`,
    // At each request that is a second after the last refresh.
    'OIDCRefreshAccessTokenBeforeExpiry 7199 logout_on_error',
    '<Location />',
    'AuthType openid-connect',
    'Require valid-user',
    'Header set Remote-User "expr=%{REMOTE_USER}"',
    'Header set Remote-Groups %{OIDC_CLAIM_groups}e',
    '</Location>',
    '<Location /group>',
    `Require claim groups:${group}`,
    '</Location>',
    '<Location /other-group>',
    `Require claim groups:not-${group}`,
    '</Location>',
    '',
  ].join('\n');
}
