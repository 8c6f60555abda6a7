import { readFile } from 'node:fs/promises';
import { record, text } from '../apis/reading/unknown-value.ts';

/** What was built, for --version and /version. */
export interface BuildInfo {
  /** Semantic version, without a `v`. */
  readonly version: string;
}

/** From our package.json: the one place where the version stands. */
export async function readBuildInfo(): Promise<BuildInfo> {
  const { version } = record(JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')));
  return { version: text(version) || '0.0.0' };
}
