// Parser of the YAML text of the configuration file. The parser also returns the position of each option in the text.
import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
} from 'yaml';
import type { ValidationError } from './configuration-error.ts';

export type Path = readonly (string | number)[];

export interface ConfigurationDocument {
  /** Undefined when the text is not one YAML document. */
  readonly value: unknown;
  readonly errors: readonly ValidationError[];
  /**
   * Returns the position of the key or value at `path`. If it is missing, returns the position of the nearest parent.
   */
  locate(path: Path, which: 'key' | 'value'): ValidationError['position'];
}

export function parseDocument(text: string, source: string): ConfigurationDocument {
  const lines = new LineCounter();
  const documents = [
    ...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true }),
  ];
  const [document] = documents;
  const position = (offset: number): ValidationError['position'] => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  if (!document || document.contents === null) {
    const empty = 'is empty; apiVersion and kind are required';
    return {
      value: undefined,
      errors: [{ source, position: undefined, path: '', message: empty }],
      locate: () => undefined,
    };
  }
  const errors: ValidationError[] = [...document.errors, ...document.warnings].map((error) => ({
    source,
    position: position(error.pos[0]),
    path: '',
    message: explain(error.code, error.message),
  }));
  if (documents.length > 1) {
    const second = documents[1];
    errors.push({
      source,
      position: second ? position(second.range[0]) : undefined,
      path: '',
      message: 'contains more than one YAML document; only one is accepted',
    });
  }
  const { value, aliasError }: Content = readable(documents) ? contentOf(document) : {};
  if (aliasError) {
    const { offset, message } = aliasError;
    errors.push({ source, position: position(offset), path: '', message });
  }
  return {
    value,
    errors,
    locate: (path, which) => {
      const offset = find(document.contents, path, which);
      return offset === undefined ? undefined : position(offset);
    },
  };
}

/** Returns true for a document without errors, or with duplicate keys only: other errors are then reported too. */
function readable(documents: readonly Document.Parsed[]): boolean {
  return documents.length === 1 && documents.every(({ errors }) => errors.every(isDuplicateKey));
}

function isDuplicateKey({ code }: { code: string }): boolean {
  return code === 'DUPLICATE_KEY';
}

/** Maximum number of values that aliases stand for, because a few lines of nested aliases can stand for billions. */
const MAX_ALIASES = 100;

interface AliasError {
  readonly offset: number;
  readonly message: string;
}

interface Content {
  readonly value?: unknown;
  readonly aliasError?: AliasError;
}

function contentOf(document: Document.Parsed): Content {
  const aliasError = unresolvedAlias(document);
  if (aliasError) return { aliasError };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { aliasError: { offset: 0, message: `its aliases stand for more than ${MAX_ALIASES} values` } };
  }
}

/** Returns the error of the first alias without a value; undefined if there is none. */
function unresolvedAlias(document: Document.Parsed): AliasError | undefined {
  let found: AliasError | undefined;
  visit(document, {
    Alias: (_key, alias, parents) => {
      const target = alias.resolve(document);
      if (target && !parents.includes(target)) return undefined;
      const message = target ? 'is inside its own anchor' : 'has no anchor before it';
      found = { offset: startOf(alias) ?? 0, message: `the alias *${alias.source} ${message}` };
      return visit.BREAK;
    },
  });
  return found;
}

function explain(code: string, message: string): string {
  if (code === 'TAB_AS_INDENT') return 'is indented with a tab; YAML requires spaces';
  if (code === 'DUPLICATE_KEY') return 'duplicate key; remove one of them';
  return message.replace(/ at line \d+, column \d+:?[^]*$/, '');
}

function find(root: Node | null, path: Path, which: 'key' | 'value'): number | undefined {
  let node: unknown = root;
  let offset = root?.range?.[0];
  for (const [depth, segment] of path.entries()) {
    const last = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && keyOf(item.key) === String(segment));
      if (!pair) return offset;
      offset = (last && which === 'value' ? startOf(pair.value) : undefined) ?? startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof segment === 'number') {
      node = node.items[segment];
      offset = startOf(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function startOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) {
    return undefined;
  }
  const [start] = node.range;
  return typeof start === 'number' ? start : undefined;
}
