// Starts Headlamp, a web console, as a child process with the flags and the variables of its component in the manifests.
// Its program and its pages come from the folder that the variable HEADLAMP names.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../artifacts/artifact.ts';
import { headlampFlags } from '../generate/headlamp.ts';
import { namesFor } from '../generate/names.ts';
import { Daemon } from '../system/daemon.ts';

interface HeadlampOptions {
  /** Folder of its pages and its log; created if missing. */
  readonly dir: string;
  readonly port: number;
  /** URL of the gateway, whose path `/oauth` is the issuer. */
  readonly server: string;
  readonly ca: string;
  readonly secret: string;
  readonly signal: AbortSignal;
}

const PROGRAM = 'headlamp-server';
const PAGES = 'frontend';

/** What is missing to start Headlamp, in one line; undefined if nothing is. `others`: further files that are needed. */
export async function missingForHeadlamp(
  { HEADLAMP: folder }: NodeJS.ProcessEnv,
  others: readonly string[] = [],
): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'Headlamp needs Linux';
  const needed = [PROGRAM, PAGES, ...others];
  const cure = `set HEADLAMP to a folder with ${new Intl.ListFormat('en-GB').format(needed)} (CONTRIBUTING.md, "Test")`;
  if (folder === undefined) return `Headlamp is not published in a package registry: ${cure}`;
  const found = await Promise.all(needed.map((name) => exists(join(folder, name))));
  return found.every(Boolean) ? undefined : `${folder} is incomplete: ${cure}`;
}

export async function startHeadlamp(options: HeadlampOptions): Promise<AsyncDisposable> {
  const { dir, port, server, ca, secret, signal } = options;
  const folder = process.env['HEADLAMP'] ?? '';
  const trusted = join(dir, 'ca');
  await mkdir(trusted, { recursive: true });
  await writeFile(join(trusted, 'ca.crt'), ca);
  // Headlamp writes into the folder of its pages.
  await cp(join(folder, PAGES), join(dir, PAGES), { recursive: true });
  const { hostname, port: serverPort } = new URL(server);
  const address = `http://127.0.0.1:${port}`;
  return Daemon.started(
    {
      name: 'headlamp',
      // client-go has one path for the token of a pod, so the program gets a file system of its own for it.
      command: 'unshare',
      args: [
        ...['--map-root-user', '--mount', 'sh', '-ec', IN_POD, 'sh'],
        ...[
          join(folder, PROGRAM),
          `-html-static-dir=${join(dir, PAGES)}`,
          `-plugins-dir=${join(dir, 'plugins')}`,
        ],
        ...['-listen-addr=127.0.0.1', `-port=${port}`, ...headlampFlags(namesFor('platform'))],
      ],
      env: {
        HEADLAMP_CONFIG_OIDC_IDP_ISSUER_URL: `${server}/oauth`,
        HEADLAMP_CONFIG_OIDC_CALLBACK_URL: `${address}/oidc-callback`,
        HEADLAMP_CONFIG_OIDC_CLIENT_SECRET: secret,
        KUBERNETES_SERVICE_HOST: hostname,
        KUBERNETES_SERVICE_PORT: serverPort,
        SSL_CERT_DIR: trusted,
        HOME: dir,
      },
      logFile: join(dir, 'headlamp.log'),
      pidFile: join(dir, 'headlamp.pid'),
      ready: async (attempt) => (await fetch(address, { signal: attempt })).ok,
    },
    signal,
  );
}

/** As the volume `service-account` of the component. */
const IN_POD = `mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
echo headlamp > /run/secrets/kubernetes.io/serviceaccount/token
exec "$@"`;
