// Signs a user in: with the browser of this machine, or on another device if there is none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Target } from './arguments.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { NoBrowserError, signInWithBrowser } from './browser-flow.ts';
import { signInOnDevice } from './device-flow.ts';
import type { SignIn } from './tokens.ts';

/** The running program. */
export interface Program {
  readonly env: NodeJS.ProcessEnv;
  /** Prints a line for the user. */
  readonly print: (line: string) => void;
  /** The command with which kubectl starts this program. */
  readonly plugin: PluginCommand;
  /** Folder of package.json. */
  readonly clone: string;
}

export interface PluginCommand {
  readonly command: string;
  /** Arguments before those of `get-token`; the last one is the script. */
  readonly args: readonly string[];
}

export interface SignInOptions extends Pick<Program, 'env' | 'print'> {
  /** Uses the device flow even if this machine has a browser. */
  readonly device?: boolean;
}

export async function signIn(
  server: AuthorizationServer,
  { clientID }: Pick<Target, 'clientID'>,
  { device = false, env, print }: SignInOptions,
): Promise<SignIn> {
  const request = { server, clientID, print };
  if (!device && hasDisplay(env)) {
    try {
      return await signInWithBrowser({ ...request, open: openBrowser });
    } catch (error) {
      if (!(error instanceof NoBrowserError)) throw error;
      print(`${error.message}\n`);
    }
  }
  return signInOnDevice(request);
}

/** On Linux, a browser needs a graphical session. */
function hasDisplay(env: NodeJS.ProcessEnv): boolean {
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // `start` would need a shell.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Rejects with NoBrowserError. The opener can run as long as the browser. */
async function openBrowser(url: string): Promise<void> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const opener = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  opener.unref();
  const [code] = await once(opener, 'exit').catch(() => [1]);
  if (code !== 0) throw new NoBrowserError(`${command} cannot open a browser on this machine.`);
}
