// Starts Keycloak as a child process: an OpenID provider over TLS with one realm and its people.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, glob, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BuildOptions, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';
import { findMaven, provideJava } from '../java/java.ts';
import { Daemon } from '../system/daemon.ts';
import { withPortRetry } from '../system/port-retry.ts';
import { freePort } from '../system/ports.ts';
import { withElapsed } from '../terminal/progress.ts';
import { responds } from './responds.ts';

const PROGRAM = { title: 'Keycloak', java: { oldest: 17 } };
const SHA256 = '27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f';
const POM = join(import.meta.dirname, 'keycloak');
/** For a short life: without the optimizing compiler of the JVM. */
const JVM = [
  ...['-Xms128m', '-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Dfile.encoding=UTF-8'],
  ...['java.util', 'java.util.concurrent', 'java.security', 'java.lang'].map(
    (name) => `--add-opens=java.base/${name}=ALL-UNNAMED`,
  ),
  '-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory',
];
const MAIN = 'io.quarkus.bootstrap.runner.QuarkusEntryPoint';
/** Options of the build, so that a start is fast. */
const BUILD = ['build', '--db=dev-file', '--cache=local', '--features-disabled=admin,account'];

/** Representation of a realm in the Admin REST API, of which this module reads the name. */
export interface Realm extends Readonly<Record<string, unknown>> {
  readonly realm: string;
}

interface KeycloakOptions {
  /** Folder of data and log; created if missing. */
  readonly dir: string;
  /** Certificate and key of Keycloak, and the CA of the certificate, PEM. */
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly ca: string;
  readonly realm: Realm;
  readonly signal: AbortSignal;
}

/** Stops when disposed. */
export interface Keycloak extends AsyncDisposable {
  readonly issuer: string;
}

/** The folder of Keycloak, built, with an empty database. Takes about a minute, and 180 MB of downloads, once. */
export async function provideKeycloak(options: BuildOptions): Promise<string> {
  const hash = await hashOfInputs({ folder: POM, files: ['pom.xml'], settings: [SHA256, BUILD] });
  const make = (staging: string): Promise<void> =>
    withElapsed(
      options.progress,
      () => 'Keycloak: downloading and building (once)',
      () => build(staging, options),
    );
  return provide({ title: PROGRAM.title, name: `keycloak-${hash}`, make }, options);
}

async function build(staging: string, options: BuildOptions): Promise<void> {
  const run = (command: string, args: readonly string[], failure: string): Promise<void> =>
    compile({ command, args, cwd: POM, failure }, options);
  const maven = await findMaven(PROGRAM, options);
  const java = await provideJava(PROGRAM, options);
  const output = [`-DoutputDirectory=${staging}`, `-DmarkersDirectory=${join(staging, 'markers')}`];
  const goals = ['dependency:copy-dependencies', 'dependency:unpack-dependencies'];
  await run(maven, ['-B', '-q', '-C', ...goals, ...output], 'downloading Keycloak failed');
  const [zip = ''] = await Array.fromAsync(glob('*.zip', { cwd: staging }));
  const sum = createHash('sha256');
  await pipeline(createReadStream(join(staging, zip)), sum);
  const found = sum.digest('hex');
  if (found !== SHA256) throw new Error(`the download of Keycloak has another checksum: ${found}`);
  await rm(join(staging, zip));
  const [folder = ''] = await Array.fromAsync(glob('keycloak-*', { cwd: staging }));
  const home = join(staging, 'keycloak');
  await rename(join(staging, folder), home);
  await run(java, argumentsIn(home, home, BUILD), 'building Keycloak failed');
  // Creates the database.
  const realms = join(staging, 'realms');
  await mkdir(realms);
  await writeFile(join(realms, 'empty-realm.json'), '{"realm":"empty"}');
  await run(
    java,
    argumentsIn(home, home, ['import', '--optimized', `--dir=${realms}`]),
    'starting Keycloak failed',
  );
}

export async function startKeycloak({
  dir,
  certificate,
  ca,
  realm,
  signal,
}: KeycloakOptions): Promise<Keycloak> {
  const options = { env: process.env, signal, progress: () => undefined };
  const installed = join(await provideKeycloak(options), 'keycloak');
  const java = await provideJava(PROGRAM, options);
  await mkdir(join(dir, 'data/import'), { recursive: true });
  for (const folder of ['lib', 'conf', 'providers', 'themes']) {
    await symlink(join(installed, folder), join(dir, folder));
  }
  await cp(join(installed, 'data/h2'), join(dir, 'data/h2'), { recursive: true });
  await writeFile(join(dir, 'data/import', `${realm.realm}-realm.json`), JSON.stringify(realm));
  await writeFile(join(dir, 'tls.crt'), certificate.cert);
  await writeFile(join(dir, 'tls.key'), certificate.key, { mode: 0o600 });
  return withPortRetry(async () => {
    const port = await freePort();
    const issuer = `https://127.0.0.1:${port}/realms/${realm.realm}`;
    const start = [
      ...['start', '--optimized', '--import-realm', '--http-host=127.0.0.1', `--https-port=${port}`],
      ...[`--https-certificate-file=${join(dir, 'tls.crt')}`],
      ...[`--https-certificate-key-file=${join(dir, 'tls.key')}`],
      ...[`--hostname=https://127.0.0.1:${port}`],
    ];
    const daemon = await Daemon.started(
      {
        name: 'keycloak',
        command: java,
        args: argumentsIn(installed, dir, start),
        logFile: join(dir, 'keycloak.log'),
        pidFile: join(dir, 'keycloak.pid'),
        ready: () => responds(`${issuer}/.well-known/openid-configuration`, ca),
      },
      signal,
    );
    return { issuer, [Symbol.asyncDispose]: () => daemon.stop() };
  });
}

/** `home`: folder of data. */
function argumentsIn(installed: string, home: string, command: readonly string[]): string[] {
  const jar = join(installed, 'lib/quarkus-run.jar');
  return [...JVM, `-Dkc.home.dir=${home}`, '-cp', jar, MAIN, ...command];
}
