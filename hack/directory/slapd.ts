// Starts OpenLDAP's slapd as a child process, from unpacked Debian packages.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { librariesIn, provideDebianPackages } from '../artifacts/debian-packages.ts';
import { Daemon } from '../system/daemon.ts';
import { withPortRetry } from '../system/port-retry.ts';
import { freePorts, isListening } from '../system/ports.ts';

const TITLE = 'OpenLDAP';
/** With the libraries that Debian does not always install. */
const PACKAGES = [
  'slapd',
  'libargon2-1',
  'libldap-2.5-0',
  'libltdl7',
  'libnsl2',
  'libsasl2-2',
  'libwrap0',
] as const;

export const SUFFIX = 'dc=example,dc=com';
export const ROOT = { dn: `cn=root,${SUFFIX}`, password: 'root-password' };

interface SlapdOptions {
  /** Folder of data and log; created if missing. */
  readonly dir: string;
  /** IP address of this machine; by default the loopback address. */
  readonly address?: string;
  /** Certificate and key of the server, PEM. */
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
}

/** Stops when disposed. */
export interface Slapd extends AsyncDisposable {
  readonly ldapPort: number;
  readonly ldapsPort: number;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Its sockets stay open, and it does not respond. */
  pause(): Promise<void>;
  resume(): void;
}

/** One line that says what is missing; undefined if slapd can be started. */
export async function missingForDirectory(options: BuildOptions): Promise<string | undefined> {
  try {
    await provideSlapd(options);
    return undefined;
  } catch (error) {
    options.signal.throwIfAborted();
    const [reason = ''] = messageOf(error).split('\n');
    return `${TITLE} is needed, from the packages of Debian 12 (${reason})`;
  }
}

/** The folder of the unpacked packages. */
async function provideSlapd(options: BuildOptions): Promise<string> {
  const packages = { title: TITLE, name: 'openldap', folders: { root: PACKAGES } };
  return join(await provideDebianPackages(packages, options), 'root');
}

export async function startSlapd(options: SlapdOptions): Promise<Slapd> {
  const { env = process.env, signal, dir, address = '127.0.0.1' } = options;
  const installed = await provideSlapd({ env, signal, progress: () => undefined });
  await rm(dir, { recursive: true, force: true });
  for (const folder of ['data', 'run']) await mkdir(join(dir, folder), { recursive: true });
  await writeFile(join(dir, 'server.crt'), options.certificate.cert);
  await writeFile(join(dir, 'server.key'), options.certificate.key, { mode: 0o600 });
  await writeFile(join(dir, 'slapd.conf'), configuration(installed, dir));
  return withPortRetry(async () => {
    const [ldapPort = 0, ldapsPort = 0] = await freePorts(2);
    const daemon = await Daemon.started(
      {
        name: 'slapd',
        command: join(installed, 'usr/sbin/slapd'),
        // With -d, slapd stays in the foreground.
        args: [
          '-f',
          join(dir, 'slapd.conf'),
          '-h',
          `ldap://${address}:${ldapPort} ldaps://${address}:${ldapsPort}`,
          '-d',
          '0',
        ],
        env: { LD_LIBRARY_PATH: librariesIn(installed) },
        logFile: join(dir, 'slapd.log'),
        pidFile: join(dir, 'run', 'slapd.json'),
        ready: (attempt) => isListening({ host: address, port: ldapPort, signal: attempt }),
      },
      signal,
    );
    signal.addEventListener('abort', () => void daemon.stop(), { once: true });
    return {
      ldapPort,
      ldapsPort,
      stop: () => daemon.stop(),
      start: () => daemon.start(signal),
      pause: () => daemon.pause(),
      resume: () => daemon.resume(),
      [Symbol.asyncDispose]: () => daemon.stop(),
    };
  });
}

function configuration(installed: string, dir: string): string {
  const schemas = ['core', 'cosine', 'inetorgperson', 'nis'];
  return [
    ...schemas.map((name) => `include ${join(installed, 'etc/ldap/schema', `${name}.schema`)}`),
    `modulepath ${join(installed, 'usr/lib/ldap')}`,
    ...['back_mdb', 'memberof', 'ppolicy'].map((name) => `moduleload ${name}`),
    `pidfile ${join(dir, 'run', 'slapd.pid')}`,
    `argsfile ${join(dir, 'run', 'slapd.args')}`,
    `TLSCertificateFile ${join(dir, 'server.crt')}`,
    `TLSCertificateKeyFile ${join(dir, 'server.key')}`,
    // Binds with an empty password succeed, as in Active Directory.
    'allow bind_anon_dn',
    'database mdb',
    `suffix "${SUFFIX}"`,
    `rootdn "${ROOT.dn}"`,
    `rootpw ${ROOT.password}`,
    `directory ${join(dir, 'data')}`,
    'maxsize 104857600',
    'index objectClass,uid,member,memberUid,entryUUID eq',
    // Only the service account reads entries.
    'access to attrs=userPassword by anonymous auth by self read by * none',
    `access to * by dn.exact="cn=reader,${SUFFIX}" read by * none`,
    'overlay memberof',
    'overlay ppolicy',
    `ppolicy_default "cn=policy,${SUFFIX}"`,
    'ppolicy_use_lockout',
    '',
  ].join('\n');
}
