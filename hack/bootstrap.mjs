// Installs the locked dependencies, including Node 24, before npm runs a script of the project. This file is plain
// JavaScript for Node 20, because the dependencies are not yet installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE_HERE = 20;
const OLDEST_NODE_FOR_TYPESCRIPT = [24, 12];
/** The first npm that reads the format of our lock file. */
const OLDEST_NPM = 7;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Time npm has to exit after a signal, in ms: it exits at once or, near its end, never. */
const GRACE_MS = 1_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.installed-lockfile');
/**
 * Wrapper that kills npm if this process dies: the next start repairs a partial installation, but concurrent installations
 * corrupt each other.
 */
const endWithParent = join(root, 'hack/system/end-with-parent.sh');

/** An error whose message is sufficient for the user. */
class Refusal extends Error {}

function versionAtLeast(version, [major, minor = 0]) {
  const [ownMajor = 0, ownMinor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

function requireNode() {
  if (!versionAtLeast(process.versions.node, [OLDEST_NODE_HERE])) {
    throw new Refusal(
      `Node ${process.versions.node} is too old: install Node ${OLDEST_NODE_HERE} or newer (https://nodejs.org/en/download), then try again.`,
    );
  }
}

/** Command line of npm: the running one, else the one on PATH. */
function findNpm() {
  const running = process.env.npm_execpath;
  const command =
    running && /^npm(-cli)?\.c?js$/.test(basename(running)) ? [process.execPath, running] : ['npm'];
  const answer = spawnSync(command[0], [...command.slice(1), '--version'], {
    encoding: 'utf8',
    env: environment(),
  });
  const version = (answer.stdout ?? '').trim();
  if (answer.status !== 0 || !/^\d+\./.test(version)) {
    throw new Refusal(
      'npm was not found: install it (it comes with Node; on Debian: apt-get install npm), then try again.',
    );
  }
  if (!versionAtLeast(version, [OLDEST_NPM])) {
    throw new Refusal(`npm ${version} is too old: install npm ${OLDEST_NPM} or newer, then try again.`);
  }
  return command;
}

/** An empty HOME means "none": npm then reads the user database instead of writing into the current folder. */
function environment() {
  const { HOME, ...rest } = process.env;
  return HOME ? { ...rest, HOME } : rest;
}

/** Inputs of the installation. They include the platform, because machines may share the folder. */
function fingerprint() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(`${process.platform} ${process.arch}\n`).update(lock).digest('hex');
}

function installed(wanted) {
  try {
    return readFileSync(stampFile, 'utf8').trim() === wanted;
  } catch {
    return false;
  }
}

/** Serializes installations: other processes wait until the holder exits, then check again. */
async function withLock(work) {
  for (;;) {
    const lock = await tryLock();
    if (lock) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
  }
}

/**
 * The lock is a listening socket, so the kernel frees it when its holder exits. On Linux it has no file; elsewhere a
 * socket file without a listener is removed.
 */
async function tryLock() {
  const name = `ks-apiserver-install-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  const address = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name);
  const waiting = new Set();
  const server = createServer((socket) => waiting.add(socket.unref()));
  const held = await new Promise((resolve, reject) => {
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
    server.listen(address, () => resolve(true));
  });
  if (held) {
    server.unref();
    return {
      release() {
        server.close();
        for (const socket of waiting) socket.destroy();
      },
    };
  }
  const answered = await new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => console.error('Waiting for another installation in this folder …'));
    socket.once('error', (error) => resolve(error.code !== 'ECONNREFUSED'));
    socket.once('close', () => resolve(true));
    socket.resume();
  });
  if (!answered && process.platform !== 'linux') unlinkSync(address);
  return undefined;
}

/** Folders of the locked packages that npm installs on this platform. */
function lockedPackages() {
  const { packages = {} } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  const fits = (accepted, own) => accepted === undefined || accepted.includes(own);
  return Object.entries(packages)
    .filter(([path, { os, cpu, libc: libraries }]) => {
      const isHere = fits(os, process.platform) && fits(cpu, process.arch) && fits(libraries, libc);
      return path !== '' && isHere;
    })
    .map(([path]) => path);
}

/**
 * Runs `npm ci` in a process group, because npm leaves its children running when only npm gets a signal.
 * After a signal, exits with the code that shells expect.
 */
async function install(npm) {
  const wanted = lockedPackages();
  console.error(`Installing the locked dependencies (npm ci): ${wanted.length} packages …`);
  const began = Date.now();
  const elapsed = () => `${Math.round((Date.now() - began) / 1000)} s`;
  // Lifecycle scripts of dependencies never run: none is needed.
  const flags = [
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--loglevel=error',
    '--no-progress',
  ];
  let child;
  let stoppedBy;
  const signalGroup = (signal) => {
    try {
      if (child?.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group has exited already.
    }
  };
  // Registered before the spawn, so that no signal can leave npm running.
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (!stoppedBy) console.error('\nStopping …');
      stoppedBy ??= signal;
      signalGroup(signal);
      setTimeout(() => signalGroup('SIGKILL'), GRACE_MS).unref();
    });
  }
  child = spawn('/bin/sh', [endWithParent, ...npm, 'ci', ...flags], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 2, 2, 'pipe'],
    env: environment(),
  });
  const progress = () => {
    const done = wanted.filter((path) => existsSync(join(root, path, 'package.json'))).length;
    return `  ${done} of ${wanted.length} packages unpacked, ${elapsed()}`;
  };
  const inPlace = process.stderr.isTTY;
  const ticker = setInterval(
    // npm's own messages overwrite the line.
    () => process.stderr.write(inPlace ? `\u001b[K${progress()}\r` : `${progress()}\n`),
    inPlace ? 1_000 : 10_000,
  );
  const outcome = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  clearInterval(ticker);
  if (inPlace) process.stderr.write('\u001b[K');
  child.stdio[3].destroy();
  if (stoppedBy) {
    // Lifecycle scripts may outlive npm itself.
    signalGroup('SIGKILL');
    process.exit(128 + constants.signals[stoppedBy]);
  }
  if (outcome !== 0) {
    throw new Refusal(
      `npm ci failed (${outcome}) after ${elapsed()}; see the reason above. Check the network, npm's registry setting (npm config get registry) and the free disk space, then try again.`,
    );
  }
  console.error(`Installed in ${elapsed()}.`);
}

/** Node 24 is a locked package where one exists for the platform; npm scripts find it first in PATH. */
function provideNode() {
  const packaged = join(`node-${process.platform}-${process.arch}`, 'bin', 'node');
  const command = join(modules, '.bin', 'node');
  if (!existsSync(command) && existsSync(join(modules, packaged))) {
    mkdirSync(join(modules, '.bin'), { recursive: true });
    symlinkSync(join('..', packaged), command);
  }
  const answer = existsSync(command) ? spawnSync(command, ['--version'], { encoding: 'utf8' }) : undefined;
  if (answer?.status === 0 && versionAtLeast(answer.stdout.trim(), OLDEST_NODE_FOR_TYPESCRIPT)) return;
  // A binary that does not run here (another C library, for instance) must not hide the installed Node.
  rmSync(command, { force: true });
  if (!versionAtLeast(process.versions.node, OLDEST_NODE_FOR_TYPESCRIPT)) {
    throw new Refusal(
      `No Node 24 is packaged for this system (${process.platform} ${process.arch}), and Node ${process.versions.node} does not run TypeScript: install Node ${OLDEST_NODE_FOR_TYPESCRIPT.join('.')} or newer, then try again.`,
    );
  }
}

async function main() {
  requireNode();
  const wanted = fingerprint();
  if (installed(wanted)) return;
  await withLock(async () => {
    if (installed(wanted)) return;
    await install(findNpm());
    provideNode();
    writeFileSync(stampFile, `${wanted}\n`);
  });
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 1;
}
