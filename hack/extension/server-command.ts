// How npm start, npm run dev, the tests and the bench start the server's process. The image does the same; a test compares
// them.
import { join } from 'node:path';

/**
 * The young generation of the heap as small as it can be without costing throughput: left alone it grows with the
 * burst of the first list and never shrinks. Measured with 5,000 nodes: 295 MB idle without it, 229 MB with it, and
 * the same CPU for each request.
 *
 * And no objects are allocated in the old generation from the start (pretenuring). V8 does that where many of a kind live
 * for a while, as in a batch of lines that waits for its reader: an export of a million lines of pod logs grew by 160 MB
 * with it, and grows by 100 without.
 *
 * And one thread collects the young generation: of so few megabytes there is nothing to share, and a second thread takes
 * the time from the first where there are few cores. Half of all collections took 0.25 ms then instead of 0.39.
 */
const NODE_OPTIONS = [
  '--max-semi-space-size=4',
  '--no-allocation-site-pretenuring',
  '--no-parallel-scavenge',
];

/** glibc's arenas, one for each thread and core, keep what was freed: fewer of them are 10 to 15 MB less. */
const MALLOC_ARENAS = '2';

/**
 * Keeps what Node has stripped and compiled: 0.6 s instead of 1.05 s of CPU until the modules are loaded, and 15 MB less.
 * Reinstalling the dependencies empties it.
 */
export const COMPILE_CACHE = 'node_modules/.cache/compile';

/**
 * An option of Node for a server that has a channel to the process that started it, and must not outlive it. A URL: Node
 * would take `%`, `#` and `?` of a path for parts of one.
 */
export const END_WITH_PARENT = `--import=${import.meta.resolve('./end-with-parent.ts')}`;

export interface ServerCommand {
  /** For Node, up to the server's own arguments. */
  readonly args: readonly string[];
  /** Besides the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** `root` is that of the repository; `nodeOptions` come first. */
export function serverCommand(root: string, ...nodeOptions: readonly string[]): ServerCommand {
  return {
    args: [...nodeOptions, ...NODE_OPTIONS, join(root, 'server/main.ts')],
    env: { MALLOC_ARENA_MAX: MALLOC_ARENAS, NODE_COMPILE_CACHE: join(root, COMPILE_CACHE) },
  };
}
