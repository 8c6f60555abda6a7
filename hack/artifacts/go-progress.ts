// Progress of a Go build, read from the output of the `go` command: downloaded modules, then compiled packages.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Template of `go list` that prints the packages which the build cache of Go lacks. */
export const LIST_STALE =
  '{{if and .Stale (ne .StaleReason "not installed but available in build cache")}}{{.ImportPath}}{{end}}';

const IMPORT_PATH = /^[\w./~-]+$/;

export class GoProgress {
  readonly #modules: number;
  #downloading = 0;
  #module = '';
  #stale = 0;
  #compiling: number | undefined;

  /** `modules`: number of modules that the build needs at most. */
  constructor(modules: number) {
    this.#modules = modules;
  }

  /** Counts the packages of `go list`, and the modules that it downloads. */
  readonly listed = (line: string): boolean => {
    const [, module] = /^go: downloading (\S.*)$/.exec(line) ?? [];
    if (module !== undefined) {
      this.#downloading++;
      this.#module = module;
      return true;
    }
    if (!IMPORT_PATH.test(line)) return false;
    this.#stale++;
    return true;
  };

  /** Counts the packages of `go build -v`, which prints each one when its compilation begins. */
  readonly compiled = (line: string): boolean => {
    this.#compiling ??= 0;
    if (!IMPORT_PATH.test(line)) return false;
    this.#compiling++;
    return true;
  };

  describe(): string {
    if (this.#compiling !== undefined) {
      return this.#compiling < this.#stale
        ? `compiling package ${this.#compiling} of ${this.#stale}`
        : 'linking';
    }
    if (this.#downloading === 0) return 'counting packages';
    return `downloading module ${this.#downloading} of at most ${this.#modules}: ${this.#module}`;
  }
}

/** Number of modules that go.mod requires; a build needs no other. */
export async function requiredModules(folder: string): Promise<number> {
  const text = await readFile(join(folder, 'go.mod'), 'utf8');
  return text.split('\n').filter((line) => /^(require)?\s+\S+ v\S+/.test(line) && !line.includes('=>'))
    .length;
}
