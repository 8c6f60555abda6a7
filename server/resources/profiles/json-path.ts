// JSON paths of printer columns and selectable fields of custom resources.
import { jsonpath } from 'json-p3';

type Query = ReturnType<typeof jsonpath.compile>;

/**
 * A JSON path of Kubernetes, such as `.status.conditions[?(@.type=="Ready")].status`. A path that cannot be parsed has
 * no values, because CustomResourceDefinitions are not validated as strictly.
 */
export class JSONPath {
  readonly #query: Query | undefined;

  constructor(path: string) {
    this.#query = compiled(path);
  }

  /** Returns the scalar values at the path. */
  values(object: unknown): readonly (string | number | boolean)[] {
    return this.#all(object).filter(
      (value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
    );
  }

  /** Returns the first value at the path, which can be null; undefined if there is none. */
  first(object: unknown): unknown {
    return this.#all(object)[0];
  }

  #all(object: unknown): readonly unknown[] {
    if (!this.#query || typeof object !== 'object' || object === null) return [];
    return this.#query.query(object as Record<string, never>).values();
  }

  texts(object: unknown): readonly string[] {
    return this.values(object).map(String);
  }
}

function compiled(path: string): Query | undefined {
  try {
    return jsonpath.compile(standardPath(path));
  } catch {
    return undefined;
  }
}

/**
 * Converts a path of Kubernetes to RFC 9535: Kubernetes has no `$`, escapes dots by a backslash, and allows any
 * character in a name.
 */
export function standardPath(path: string): string {
  let standard = '$';
  // A name after a dot, `..`, or a bracket with its content, in which quoted texts may contain brackets.
  const parts = /\.\.|\.?((?:\\.|[^.[\\])+)|\[(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\]"'])*\]|\./gy;
  for (const [part, name] of path.matchAll(parts)) {
    if (name === undefined) standard += part === '.' ? '' : part;
    else if (name === '*') standard += standard.endsWith('..') ? '*' : '[*]';
    else standard += `[${JSON.stringify(name.replace(/\\(.)/g, '$1'))}]`;
  }
  return standard;
}
