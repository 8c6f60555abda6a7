// Builds Java programs from Maven artifacts and a few classes. They need a Java runtime only: the compiler is one of the
// artifacts.
import { createHash } from 'node:crypto';
import { glob, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, hashOfInputs } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';
import { withElapsed } from '../terminal/progress.ts';
import { findMaven, type JavaUser, provideJava } from './java.ts';

export interface JavaProgram extends JavaUser {
  /** Name in the cache. */
  readonly name: string;
  /** Contains pom.xml, a child of the one in this folder, and jars.sha256 in the format of sha256sum. */
  readonly folder: string;
  /** Paths of its classes. */
  readonly sources: readonly string[];
  /** Approximate size of the Maven downloads. */
  readonly megabytes: number;
}

const PARENT = join(import.meta.dirname, 'pom.xml');
const FETCH = ['-B', '-C', 'generate-resources'];
const COMPILER = 'org.eclipse.jdt.internal.compiler.batch.Main';
const COMPILE = ['-17', '-proc:none', '-nowarn'];

/** Folder in the cache of the program for the current sources. */
export async function nameOfJavaProgram({ name, folder, sources }: JavaProgram): Promise<string> {
  const texts = await Promise.all([PARENT, ...sources].map((file) => readFile(file, 'utf8')));
  const settings = [FETCH, COMPILER, COMPILE, ...texts];
  return `${name}-${await hashOfInputs({ folder, files: ['*.*', 'modules/*/*.*'], settings })}`;
}

/** Writes the jars into `lib`, and the compiled classes into `classes`. */
export async function makeJavaProgram(
  program: JavaProgram,
  staging: string,
  options: BuildOptions,
): Promise<void> {
  const { progress } = options;
  const { title, folder, sources, megabytes } = program;
  const maven = await findMaven(program, options);
  const java = await provideJava(program, options);
  progress(`${title}: downloading with Maven (once; about ${megabytes} MB)`);
  let fetched = 0;
  let isFetched = false;
  await withElapsed(
    progress,
    () => `${title}: ${isFetched ? 'building' : `${fetched} files fetched`}`,
    async () => {
      const fetch = {
        command: maven,
        args: [...FETCH, `-Doutput=${staging}`],
        cwd: folder,
        failure: `fetching ${title} failed`,
        alone: `(cd ${folder} && mvn dependency:resolve)`,
        line: (line: string) => {
          if (line.includes('Downloaded from')) fetched++;
          return !line.startsWith('[ERROR]');
        },
      };
      await compile(fetch, options);
      isFetched = true;
      const jars = await verifyJars(staging, join(folder, 'jars.sha256'));
      const path = jars.filter((jar) => jar.startsWith('lib/')).map((jar) => join(staging, jar));
      const build = {
        command: java,
        args: [
          ...['-cp', join(staging, 'compiler', '*'), COMPILER, ...COMPILE],
          ...['-cp', path.join(':'), '-d', join(staging, 'classes'), ...sources],
        ],
        cwd: folder,
        failure: `building ${title} failed`,
        alone: `javac -cp 'FOLDER_OF_JARS/*' ${sources.join(' ')}`,
      };
      await compile(build, options);
    },
  );
  await rm(join(staging, 'compiler'), { recursive: true });
}

/** The class path of a built program. */
export function classPathIn(folder: string): string {
  return `${join(folder, 'classes')}:${join(folder, 'lib', '*')}`;
}

/**
 * Verifies the downloads against a list in the format of sha256sum, because Maven has no lock file. Returns the names
 * relative to the folder; throws on missing, additional or different files.
 */
export async function verifyJars(folder: string, list: string): Promise<string[]> {
  const expected = new Map(
    (await readFile(list, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const found = await Array.fromAsync(glob('**/*.jar', { cwd: folder }));
  const wrong = [...expected.keys()]
    .filter((name) => !found.includes(name))
    .map((name) => `${basename(name)} is missing`);
  for (const name of found) {
    const sum = createHash('sha256')
      .update(await readFile(join(folder, name)))
      .digest('hex');
    if (!expected.has(name)) wrong.push(`${basename(name)} is not listed`);
    else if (expected.get(name) !== sum) wrong.push(`${basename(name)} has another checksum`);
  }
  if (wrong.length > 0) {
    throw new Error(`the downloads of Maven differ from ${list}: ${wrong.sort().join(', ')}`);
  }
  return found.sort();
}
