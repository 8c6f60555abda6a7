// Creates and removes the folder with the files of one control plane. Only one process at a time can open the
// folder.
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { record } from '../../apis/reading/unknown-value.ts';
import type { DaemonSpec } from '../system/daemon.ts';
import { claimFolder } from '../system/owner.ts';
import { PORT_NAMES, type Ports } from '../system/ports.ts';

/** Log file and PID file of a program. */
export type ProgramFiles = Pick<DaemonSpec, 'logFile' | 'pidFile'>;

/** The folder of one control plane: its layout, its owner and its removal. */
export interface Folder {
  readonly dir: string;
  readonly pki: string;
  readonly etcd: string;
  /** Configuration and logs of the simulated nodes. */
  readonly kwok: string;
  kubeconfig(name: string): string;
  userKubeconfig(name: string): string;
  place(program: string): ProgramFiles;
  readPorts(): Promise<Partial<Ports>>;
  writePorts(ports: Ports): Promise<void>;
  /** Releases the ownership. */
  release(): Promise<void>;
  /** Removes the files of the control plane, and the folder if it is empty then. */
  remove(): Promise<void>;
}

/** Claims the folder for this process; fails if another process runs a control plane in it. */
export async function openFolder(dir: string): Promise<Folder> {
  await mkdir(dir, { recursive: true });
  const release = await claimFolder(dir);
  const ports = join(dir, 'ports.json');
  const kubeconfig = (name: string): string => join(dir, `${name}.kubeconfig`);
  return {
    dir,
    pki: join(dir, 'pki'),
    etcd: join(dir, 'etcd'),
    kwok: join(dir, 'kwok'),
    kubeconfig,
    userKubeconfig: (name) => join(dir, 'users', `${encodeURIComponent(name)}.kubeconfig`),
    place: (program) => ({
      logFile: join(dir, 'logs', `${program}.log`),
      pidFile: join(dir, 'run', `${program}.json`),
    }),
    readPorts: () => readPorts(ports),
    writePorts: (chosen) => writeFile(ports, JSON.stringify(chosen)),
    release,
    remove: async () => {
      const folders = ['etcd', 'kwok', 'logs', 'pki', 'run', 'users'].map((name) => join(dir, name));
      const files = (await readdir(dir))
        .filter((name) => name.endsWith('.kubeconfig'))
        .map((name) => join(dir, name));
      await Promise.all(
        [...folders, ...files, ports].map((path) => rm(path, { recursive: true, force: true })),
      );
      if ((await readdir(dir)).length === 0) await rmdir(dir);
    },
  };
}

/** Returns no ports if the file is missing or invalid. */
async function readPorts(file: string): Promise<Partial<Ports>> {
  const ports: Partial<Ports> = {};
  try {
    const kept = record(JSON.parse(await readFile(file, 'utf8')));
    for (const name of PORT_NAMES) {
      const port = kept[name];
      if (typeof port === 'number') ports[name] = port;
    }
  } catch {
    return {};
  }
  return ports;
}
