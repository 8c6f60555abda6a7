// Builds Dex, a provider of identities, and oauth2-proxy, a relying party, for tests of sign-ins.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** Program names with their packages. */
const PACKAGES = {
  dex: 'github.com/dexidp/dex/cmd/dex',
  'oauth2-proxy': 'github.com/oauth2-proxy/oauth2-proxy/v7',
} as const;

export type IdentityProgram = keyof typeof PACKAGES;

/** Returns the path of the program in the version of go.mod; builds it if the cache lacks it. */
export async function buildIdentityProgram(name: IdentityProgram, options: BuildOptions): Promise<string> {
  const module = { title: name, name, module: import.meta.dirname, packages: [PACKAGES[name]] };
  return join(await provideGo(module, options), name);
}
