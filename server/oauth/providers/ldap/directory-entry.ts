// An entry of a directory. Names of attributes are case-insensitive, and each has any number of values, which may be binary.
import type { Entry } from 'ldapts';

export class DirectoryEntry {
  readonly dn: string;
  /** By name in lower case, without options. */
  readonly #values = new Map<string, (string | Buffer)[]>();
  /** Attributes of which the server sent only the first values (`memberOf;range=0-1499` of Active Directory). */
  readonly #partial = new Map<string, number>();

  constructor(entry: Entry) {
    this.dn = typeof entry.dn === 'string' ? entry.dn : '';
    for (const [description, value] of Object.entries(entry)) {
      const [name = '', ...options] = description.toLowerCase().split(';');
      const values = Array.isArray(value) ? value : [value];
      const range = options.map((option) => /^range=\d+-(\d+|\*)$/.exec(option)?.[1]).find(Boolean);
      const known = this.#values.get(name);
      if (known) known.push(...values);
      else if (values.length > 0) this.#values.set(name, [...values]);
      if (range !== undefined && range !== '*') this.#partial.set(name, Number(range) + 1);
    }
  }

  /** All values that are text. */
  texts(attribute: string): readonly string[] {
    return this.#of(attribute).filter((value) => typeof value === 'string');
  }

  /** The only value; undefined without one, with several, and for a binary one. */
  text(attribute: string): string | undefined {
    const [value, ...others] = this.#of(attribute);
    return typeof value === 'string' && value !== '' && others.length === 0 ? value : undefined;
  }

  /** The first value that is text. */
  firstText(attribute: string): string | undefined {
    return this.texts(attribute).find((value) => value !== '');
  }

  /** The only value as bytes. */
  bytes(attribute: string): Buffer | undefined {
    const [value, ...others] = this.#of(attribute);
    if (value === undefined || others.length > 0) return undefined;
    return typeof value === 'string' ? Buffer.from(value) : value;
  }

  /** The number of values so far, if the server has more of them. */
  nextValue(attribute: string): number | undefined {
    return this.#partial.get(attribute.toLowerCase());
  }

  #of(attribute: string): readonly (string | Buffer)[] {
    return this.#values.get(attribute.toLowerCase()) ?? [];
  }
}

/** Whether a DN is below another one. False also for another spelling of the escapes. */
export function isBelow(dn: string, base: string): boolean {
  const [parts, above] = [partsOf(dn), partsOf(base)];
  return parts.length > above.length && parts.slice(-above.length).join() === above.join();
}

/** In lower case, without blanks beside separators. An escaped comma is a character of a value. */
function partsOf(dn: string): readonly string[] {
  const parts = dn.toLowerCase().match(/(?:[^\\,]|\\.)+/gs) ?? [];
  return parts.map((part) =>
    part
      .split('=')
      .map((text) => text.trim())
      .join('='),
  );
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The stable id of an entry as text: a UUID in lower case, any other text as it is, because the ids of two people can differ in their case,
 * and the 16 bytes of `objectGUID` as Active Directory displays them, with the first three fields in little-endian order. Undefined
 * for anything else.
 */
export function stableID(entry: DirectoryEntry, attribute: string): string | undefined {
  const bytes = entry.bytes(attribute);
  if (attribute.toLowerCase() !== 'objectguid') {
    const id = bytes?.toString('latin1') ?? '';
    if (UUID.test(id)) return id.toLowerCase();
    return /^[\x21-\x7e]{1,255}$/.test(id) ? id : undefined;
  }
  if (bytes?.length !== 16) return undefined;
  const hex = (from: number, to: number, reversed: boolean): string => {
    const part = Buffer.from(bytes.subarray(from, to));
    return (reversed ? part.reverse() : part).toString('hex');
  };
  return [hex(0, 4, true), hex(4, 6, true), hex(6, 8, true), hex(8, 10, false), hex(10, 16, false)].join('-');
}

/** The value of the attribute in a filter that finds the entry with this id. */
export function idValue(id: string, attribute: string): string | Buffer {
  if (attribute.toLowerCase() !== 'objectguid') return id;
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  return Buffer.concat([
    Buffer.from(bytes.subarray(0, 4)).reverse(),
    Buffer.from(bytes.subarray(4, 6)).reverse(),
    Buffer.from(bytes.subarray(6, 8)).reverse(),
    bytes.subarray(8),
  ]);
}
