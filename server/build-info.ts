import { readFile } from 'node:fs/promises';

/** What was built, for --version and /version. */
export interface BuildInfo {
  /** Semantic version, without a `v`. */
  readonly version: string;
}

/** From our package.json: the one place where the version stands. */
export async function readBuildInfo(): Promise<BuildInfo> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const parsed: unknown = JSON.parse(text);
  const version =
    typeof parsed === 'object' && parsed !== null && 'version' in parsed && typeof parsed.version === 'string'
      ? parsed.version
      : '0.0.0';
  return { version };
}
