// Adds the optional packages of other platforms to package-lock.json. `npm ci` rejects an incomplete lockfile.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|ia32|ppc64|riscv64|s390x|x64)(?:-(musl|gnu))?/;

/**
 * Missing entries of `packages`, by key. npm omits optional packages that its registry does not offer. An entry with
 * version and platform is sufficient.
 */
function missingEntries(packages) {
  const missing = {};
  for (const [path, owner] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
      if (packages[`node_modules/${name}`] || packages[`${path}/node_modules/${name}`]) continue;
      const [, os, cpu, libc] = PLATFORM.exec(name) ?? [];
      if (!os || !cpu) throw new Error(`${name}, optional for ${path || 'this package'}: unknown platform`);
      missing[`node_modules/${name}`] = {
        version,
        cpu: [cpu],
        ...(owner.dev ? { dev: true } : {}),
        ...(libc ? { libc: [libc === 'gnu' ? 'glibc' : libc] } : {}),
        optional: true,
        os: [os],
      };
    }
  }
  return missing;
}

const USAGE = `node hack/lockfile.mjs [--check]

Adds to package-lock.json the optional packages of other platforms; with --check it only reports the missing packages.
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [flag] = process.argv.slice(2);
  if (flag === '--help' || flag === '-h') process.stdout.write(USAGE);
  else if (flag === undefined || flag === '--check') complete(flag === '--check');
  else {
    console.error(`unknown flag ${flag}; see --help`);
    process.exitCode = 2;
  }
}

function complete(onlyCheck) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const missing = missingEntries(lock.packages);
  const names = Object.keys(missing);
  if (names.length > 0 && onlyCheck) {
    console.error(
      `package-lock.json lacks ${names.length} optional packages, so npm ci refuses it. Run: node hack/lockfile.mjs`,
    );
    process.exitCode = 1;
  } else if (names.length > 0) {
    const entries = Object.entries({ ...lock.packages, ...missing });
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, null, 2)}\n`);
    console.error(`package-lock.json: added ${names.length} optional packages.`);
  }
}
