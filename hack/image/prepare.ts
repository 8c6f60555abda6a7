// Prepares /app in the build of the image: removes files that the server never reads, and reduces sbom.json to the
// packages that are installed.
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Removed from /app, each with the reason why the server works without it. */
const UNUSED: readonly string[] = [
  // Generated API clients: server/cluster/connection/client-node.ts excludes them.
  'node_modules/@kubernetes/client-node/dist/gen/{apis,models,types}',
  // Node does not run TypeScript in node_modules, and reads no source maps.
  'node_modules/**/*.{ts,cts,mts,map}',
  // Modules of Bare, another JavaScript runtime.
  'node_modules/bare-*',
  // Bundles for applications with a bundler; the API page loads swagger-ui-bundle.js.
  'node_modules/swagger-ui-dist/swagger-ui{,-es-bundle,-es-bundle-core,-standalone-preset}.js',
  'node_modules/bintrees/test',
  // Parts of Preact that the page does not import.
  'node_modules/preact/{compat,debug,devtools,jsx-runtime,src,test-utils,hooks/src}',
  // The image has a Node of its own.
  'node_modules/node-linux-*',
  // Commands, and a copy of the lockfile for npm.
  'node_modules/{.bin,.package-lock.json}',
];

interface Sbom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string } };
  components: readonly { readonly 'bom-ref': string }[];
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** IDs such as `ws@8.23.0` of the locked packages that are installed: without packages of other platforms. */
function installedPackages(): Set<string> {
  const { packages }: { packages: Record<string, { version: string }> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  );
  const installed = Object.entries(packages).filter(([path]) => path !== '' && existsSync(path));
  return new Set(
    installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`),
  );
}

function reduceSbom(): void {
  const sbom: Sbom = JSON.parse(readFileSync('sbom.json', 'utf8'));
  const { name, version }: { name: string; version: string } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  const installed = installedPackages();
  // Two builds would differ in both.
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  // npm writes the name of the folder.
  sbom.metadata.component.name = name;
  const node = {
    'bom-ref': `node@${process.versions.node}`,
    type: 'platform',
    name: 'node',
    version: process.versions.node,
    cpe: `cpe:2.3:a:nodejs:node.js:${process.versions.node}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${process.versions.node}`,
  };
  sbom.components = [...sbom.components.filter((component) => installed.has(component['bom-ref'])), node];
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => installed.has(ref) || ref === `${name}@${version}`)
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((needed) => installed.has(needed)) }));
  writeFileSync('sbom.json', `${JSON.stringify(sbom, null, 2)}\n`);
}

for (const pattern of UNUSED) for (const path of globSync(pattern)) rmSync(path, { recursive: true });
reduceSbom();
