import type { ConfigurationDocument, Path } from './document.ts';
import type { Fault } from './fault.ts';

/** A value that a flag puts in place of the file's. */
export interface Override {
  readonly path: readonly string[];
  readonly value: unknown;
  /** What faults of it are reported under, for instance `--secure-port`. */
  readonly source: string;
}

/** Knows for each path whether a flag or the file gave the value, and where. */
export class FaultLocator {
  readonly #source: string;
  readonly #document: ConfigurationDocument | undefined;
  readonly #overrides: readonly Override[];

  constructor(source: string, document: ConfigurationDocument | undefined, overrides: readonly Override[]) {
    this.#source = source;
    this.#document = document;
    this.#overrides = overrides;
  }

  fault(path: readonly string[], which: 'key' | 'value', message: string): Fault {
    const name = path.join('.');
    const override = this.#overrides.findLast((candidate) => candidate.path.join('.') === name);
    if (override) return { source: override.source, position: undefined, path: '', message };
    const position = this.#document?.locate(path.map(indexOrKey), which);
    return { source: this.#source, position, path: name, message };
  }
}

function indexOrKey(segment: string): Path[number] {
  return /^\d+$/.test(segment) ? Number(segment) : segment;
}
