// Reads the version of the server, for `ks-apiserver version` and /version.
import { readFile } from 'node:fs/promises';
import { record, text } from '../../apis/reading/unknown-value.ts';

interface BuildInfo {
  /** Semantic version, without a `v`. */
  readonly version: string;
}

/** Reads the version from package.json. */
export async function readBuildInfo(): Promise<BuildInfo> {
  const { version } = record(
    JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')),
  );
  return { version: text(version) || '0.0.0' };
}

/** The line that `ks-apiserver version` prints. */
export async function versionLine(): Promise<string> {
  const { version } = await readBuildInfo();
  return `ks-apiserver ${version} (node ${process.version})`;
}
