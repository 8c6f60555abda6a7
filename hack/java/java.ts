// Finds Maven, and a Java runtime in a given version range.
import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { executable } from '../system/executable.ts';
import { FETCHED_JAVA, fetchJava } from './java-wheel.ts';

/** A range of major versions. */
export interface JavaRange {
  readonly oldest: number;
  readonly newest?: number;
}

/** A program and the Java that it needs. */
export interface JavaUser {
  readonly title: string;
  readonly java: JavaRange;
}

type JavaSearchOptions = Pick<BuildOptions, 'env' | 'signal'>;

const CURE = 'install Java and Maven (apt-get install default-jre-headless maven)';

/**
 * Returns the path of a matching Java: from JAVA_HOME, from PATH, or by download if that version matches. Otherwise
 * throws an error in one line that says what to install.
 */
export async function provideJava(user: JavaUser, options: BuildOptions): Promise<string> {
  const found = await findJava(user, options);
  if ('path' in found) return found.path;
  const { java, title } = user;
  const needed = `Java ${inWords(java)} is needed to run ${title}, and ${found.instead}`;
  if (!fits(FETCHED_JAVA, java)) throw new Error(`${needed}: ${CURE}, or set JAVA_HOME`);
  try {
    return await fetchJava(options);
  } catch (error) {
    options.signal.throwIfAborted();
    const why = messageOf(error);
    throw new Error(`${needed}; ${why}. Install one and set JAVA_HOME`, { cause: error });
  }
}

/** Returns the path of mvn, which is needed once to download a node. */
export async function findMaven(user: JavaUser, { env }: JavaSearchOptions): Promise<string> {
  const path = await inPath('mvn', env);
  if (path !== undefined) return path;
  throw new Error(`mvn is needed once to download ${user.title} and is not in PATH: ${CURE}`);
}

/** A matching Java, or a description of what was found instead. */
async function findJava(
  user: JavaUser,
  options: JavaSearchOptions,
): Promise<{ path: string } | { instead: string }> {
  const home = options.env['JAVA_HOME'];
  const own = home === undefined || home === '' ? undefined : join(home, 'bin', 'java');
  const candidates = [own, await inPath('java', options.env)].filter((path) => path !== undefined);
  const instead: string[] = [];
  for (const path of candidates) {
    const major = await majorOf(path, options);
    if (major !== undefined && fits(major, user.java)) return { path };
    instead.push(major === undefined ? `${path} does not run` : `${path} is Java ${major}`);
  }
  return { instead: instead.length === 0 ? 'java is not in PATH' : instead.join(' and ') };
}

function fits(major: number, { oldest, newest = Number.POSITIVE_INFINITY }: JavaRange): boolean {
  return major >= oldest && major <= newest;
}

function inWords({ oldest, newest }: JavaRange): string {
  return newest === undefined ? `${oldest} or newer` : `${oldest} to ${newest}`;
}

async function majorOf(java: string, { env, signal }: JavaSearchOptions): Promise<number | undefined> {
  try {
    const { stderr } = await promisify(execFile)(java, ['-version'], { env, signal, timeout: 20_000 });
    const major = /version "(\d+)/.exec(stderr)?.[1];
    return major === undefined ? undefined : Number(major);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function inPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = await executable(join(folder, name));
    if (path !== undefined) return path;
  }
  return undefined;
}
