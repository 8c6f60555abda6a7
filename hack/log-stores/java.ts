import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** What OpenSearch 2 runs on: since 24 there is no security manager any more, which it still asks for. */
const OLDEST = 17;
const NEWEST = 23;
const CURE = 'install a JDK and Maven (apt-get install default-jdk-headless maven)';

export interface Ask {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The path of a Java that fits. Otherwise an error of one line that says what to do. */
export async function findJava(ask: Ask): Promise<string> {
  const home = ask.env['JAVA_HOME'];
  const where = home === undefined || home === '' ? 'PATH' : 'JAVA_HOME';
  const java = where === 'PATH' ? await inPath('java', ask.env) : join(home ?? '', 'bin', 'java');
  const said = java === undefined ? undefined : await versionOf(java, ask);
  if (java === undefined || said === undefined) {
    const what = java === undefined ? 'is not in PATH' : `in ${where} does not run (${java} -version)`;
    throw new Error(`Java ${OLDEST} is needed to run OpenSearch, and java ${what}: ${CURE}`);
  }
  const major = Number(/version "(\d+)/.exec(said)?.[1] ?? 0);
  if (major < OLDEST || major > NEWEST) {
    throw new Error(
      `Java ${OLDEST} to ${NEWEST} is needed to run OpenSearch, and ${java} is Java ${major}: ${CURE}, or set JAVA_HOME`,
    );
  }
  return java;
}

/** The compiler and Maven: needed once, to fetch OpenSearch and to build its main. */
export async function findBuildTools(ask: Ask): Promise<{ javac: string; maven: string }> {
  const java = await findJava(ask);
  const javac = await programOr('javac', join(java, '..', 'javac'), ask.env);
  const maven = await programOr('mvn', undefined, ask.env);
  return { javac, maven };
}

async function programOr(name: string, first: string | undefined, env: NodeJS.ProcessEnv): Promise<string> {
  const path = (first !== undefined && (await executable(first))) || (await inPath(name, env));
  if (path === undefined)
    throw new Error(`${name} is needed once to build OpenSearch and is not in PATH: ${CURE}`);
  return path;
}

async function versionOf(java: string, { env, signal }: Ask): Promise<string | undefined> {
  try {
    const { stderr } = await promisify(execFile)(java, ['-version'], { env, signal, timeout: 20_000 });
    return stderr;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function inPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const path = folder === '' ? undefined : await executable(join(folder, name));
    if (path !== undefined) return path;
  }
  return undefined;
}

async function executable(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}
