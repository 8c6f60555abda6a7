/**
 * How many hashes to work on at a time: as many as there are cores, but never all threads of libuv's pool, since files
 * and names are read on them too. `configured`: 0 when it is left to us.
 */
export function hashConcurrency(configured: number, cores: number, threads: number): number {
  return Math.max(1, Math.min(configured > 0 ? configured : cores, threads - 1));
}
