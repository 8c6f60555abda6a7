import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns the size in bytes of all reachable heap objects, after a garbage collection. */
export function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('there is no garbage collector to call');
  collect();
  return process.memoryUsage().heapUsed;
}
