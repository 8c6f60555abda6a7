// Defines the command line and environment of the server process in development. A test compares both with the
// container image.
import { join } from 'node:path';

/**
 * Limits the young generation to the smallest size that costs no throughput: by default it grows with the first list
 * and never shrinks. Measured with 5,000 nodes: 295 MB idle by default, 229 MB with the limit, the same CPU per request.
 *
 * Disables pretenuring (allocation in the old generation): an export of a million lines of pod logs grew by 160 MB with
 * it, and grows by 100 MB without.
 *
 * One thread collects the young generation: it is too small to share, and a second thread competes for few cores. The
 * median collection takes 0.25 ms instead of 0.39 ms.
 *
 * No collection of the whole heap below 96 MB: V8 adds the bytes of received buffers to the heap, and would collect the whole
 * heap of 35 MB again after 12 MB of them. The collection of the young generation frees them. 1 GB through exec takes 1.6 s of
 * CPU instead of 2.8 s, and the server stays resident with 10 MB more.
 */
const NODE_OPTIONS = [
  '--max-semi-space-size=4',
  '--no-allocation-site-pretenuring',
  '--no-parallel-scavenge',
  '--initial-old-space-size=96',
];

/**
 * Settings of the allocator of glibc, which keeps freed memory. Two arenas save 10 to 15 MB. Buffers of 128 KiB or more get
 * their own mappings; by default glibc raises that size to 32 MiB, and buffers between others fragment its heap. Five exports
 * of 200,000 lines from VictoriaLogs grew by 75 MB with the default, and grow by 7 MB with the fixed size.
 */
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/**
 * Compile cache of Node: loading the modules takes 0.6 s instead of 1.05 s of CPU, and 15 MB less. Reinstalling the
 * dependencies clears it.
 */
export const COMPILE_CACHE = 'node_modules/.cache/compile';

/**
 * Node option for a server with an IPC channel to the process that started it: the server exits with that process.
 * A URL, because Node would interpret `%`, `#` and `?` of a path.
 */
export const END_WITH_PARENT = `--import=${import.meta.resolve('./end-with-parent.ts')}`;

interface ServerCommand {
  /** Arguments of Node, before those of the server. */
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** `root`: the root of the repository. */
export function serverCommand(root: string, ...nodeOptions: readonly string[]): ServerCommand {
  return {
    args: [...nodeOptions, ...NODE_OPTIONS, join(root, 'server/main.ts')],
    env: { ...MALLOC, NODE_COMPILE_CACHE: join(root, COMPILE_CACHE) },
  };
}
