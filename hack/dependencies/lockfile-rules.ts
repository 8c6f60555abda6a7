// Rules for the packages of package-lock.json: licence, origin, hash, install scripts and deprecation. They need only the
// lockfile and the manifests of the installed packages, no service.

/** A value of `packages` in package-lock.json. */
export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  /** Only for the development, so not in the image. */
  readonly dev?: boolean;
  readonly deprecated?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** The fields of an installed package.json that the rules read. */
export interface InstalledManifest {
  readonly version?: string;
  readonly license?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** SPDX expressions, compared exactly. All of them permit distribution in the image without the source code. */
const LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  '(MIT OR Apache-2.0)',
  'PSF-2.0',
  'Unlicense',
]);

/** Further licences, of packages that only run in tests and builds: axe-core. */
const DEVELOPMENT_LICENCES: ReadonlySet<string> = new Set(['MPL-2.0']);

/** Packages with an install script. All installations use --ignore-scripts, and must work without the script. */
const INSTALL_SCRIPTS: ReadonlySet<string> = new Set([
  // Sends statistics about the installation of swagger-ui-dist.
  '@scarf/scarf',
]);

/** Packages of supported platforms whose hash is unknown. */
const WITHOUT_HASH: ReadonlySet<string> = new Set(['@node-rs/bcrypt-linux-arm64-gnu']);

const LIFECYCLE = ['preinstall', 'install', 'postinstall'];

/** Returns one line for each violation. `installed` returns the manifest of a path such as `node_modules/ws`. */
export function lockfileProblems(
  packages: Readonly<Record<string, LockedPackage>>,
  installed: (path: string) => InstalledManifest | undefined,
): string[] {
  return Object.entries(packages).flatMap(([path, locked]) => {
    if (path === '') return [];
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const problems = [...lockedProblems(name, locked), ...installedProblems(name, locked, installed(path))];
    return problems.map((problem) => `${name}@${locked.version}: ${problem}`);
  });
}

function* lockedProblems(name: string, locked: LockedPackage): Generator<string> {
  if (locked.link || locked.resolved)
    yield `comes from ${locked.resolved}; only the npm registry is accepted`;
  if (locked.deprecated) yield `is deprecated: ${locked.deprecated}`;
  if (locked.hasInstallScript && !INSTALL_SCRIPTS.has(name)) {
    yield 'has an install script that is not in INSTALL_SCRIPTS';
  }
  if (isIncomplete(locked)) {
    if (isSupported(locked) && !WITHOUT_HASH.has(name)) yield 'has no hash, but can be installed on Linux';
    return;
  }
  if (!locked.integrity?.startsWith('sha512-')) yield `has no SHA-512 hash, but ${locked.integrity}`;
  const { license = '', dev = false } = locked;
  if (!LICENCES.has(license) && !(dev && DEVELOPMENT_LICENCES.has(license)))
    yield `has the licence ${locked.license}, which is not in LICENCES`;
}

/** The lockfile describes what is installed, so that a licence or an install script cannot be hidden in it. */
function* installedProblems(
  name: string,
  locked: LockedPackage,
  manifest: InstalledManifest | undefined,
): Generator<string> {
  if (manifest === undefined) return;
  const { version, license, scripts = {} } = manifest;
  if (version !== locked.version) yield `${version} is installed; run npm ci`;
  if (license !== locked.license) yield `its package.json has the licence ${JSON.stringify(license)}`;
  const script = LIFECYCLE.find((event) => event in scripts);
  if (script && !INSTALL_SCRIPTS.has(name)) yield `its package.json has the script ${script}`;
}

/** True for the entries that hack/lockfile.mjs adds. Such a package has the licence of the package that needs it. */
function isIncomplete({ optional, os, integrity, license }: LockedPackage): boolean {
  return optional === true && os !== undefined && integrity === undefined && license === undefined;
}

/** Whether the project supports the platform: Linux with glibc, on x64 and arm64. */
function isSupported({ os, cpu, libc }: LockedPackage): boolean {
  return (
    (os?.includes('linux') ?? true) &&
    (cpu?.some((name) => name === 'x64' || name === 'arm64') ?? true) &&
    (libc?.includes('glibc') ?? true)
  );
}
