// Builds the Go programs in this folder (client-go informers, a controller and the load generator) and the Java programs.
import { join } from 'node:path';
import { type BuildOptions, provide } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';
import { provideJava } from '../java/java.ts';
import { classPathIn, type JavaProgram, makeJavaProgram, nameOfJavaProgram } from '../java/java-program.ts';
import type { PythonEnvironment } from '../python/environment.ts';

/** Paths of the built programs. */
interface Clients {
  readonly load: string;
  readonly informer: string;
  readonly controller: string;
}

const MODULE = import.meta.dirname;

/** Environment of the programs in the folder `python`. */
export const PYTHON_CLIENTS: PythonEnvironment = {
  name: 'python-client',
  requirements: join(MODULE, 'python/requirements.txt'),
};

/**
 * Builds the programs if the cache lacks them: in about ten seconds after a build of the control plane, whose modules have the same
 * versions, so that Go has compiled most packages already.
 */
export async function buildClients(options: BuildOptions): Promise<Clients> {
  const module = { title: 'Go clients', name: 'clients', module: MODULE };
  const folder = await provideGo({ ...module, packages: ['./load', './informer', './controller'] }, options);
  return {
    load: join(folder, 'load'),
    informer: join(folder, 'informer'),
    controller: join(folder, 'controller'),
  };
}

const JAVA = join(MODULE, 'java');
const JAVA_CLIENTS: JavaProgram = {
  title: 'Java clients',
  name: 'java-clients',
  java: { oldest: 17 },
  folder: JAVA,
  sources: ['Client.java', 'Namespaces.java'].map((file) => join(JAVA, file)),
  megabytes: 30,
};
/** For a short life: without the optimizing compiler of the JVM. */
const JVM = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** Returns the command that runs a Java client: its class and arguments follow. Builds the clients if the cache lacks them. */
export async function buildJavaClients(options: BuildOptions): Promise<readonly [string, ...string[]]> {
  const java = await provideJava(JAVA_CLIENTS, options);
  const { title } = JAVA_CLIENTS;
  const make = (staging: string): Promise<void> => makeJavaProgram(JAVA_CLIENTS, staging, options);
  const folder = await provide({ title, name: await nameOfJavaProgram(JAVA_CLIENTS), make }, options);
  return [java, ...JVM, '-cp', classPathIn(folder)];
}
