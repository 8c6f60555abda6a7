// Filters of LDAP searches (RFC 4511, 4.5.1.7) as a server reads them. Values stay bytes, which the filters of ldapts do not do.
import { type BerReader, SearchFilter } from 'ldapts';

/** What a filter reads of an entry. */
export interface FilterTarget {
  has(attribute: string): boolean;
  /** `rule`: OID of the matching rule. Undefined for an unknown attribute or rule. */
  equals(attribute: string, value: Buffer, rule?: string): boolean | undefined;
}

/** Undefined: neither matches nor does not match. */
export type Match = (entry: FilterTarget) => boolean | undefined;

const OCTET_STRING = 0x04;

/** Without substrings and comparisons of order: such a filter matches nothing. */
export function readFilter(reader: BerReader): Match {
  const type = reader.readSequence();
  const end = reader.offset + reader.length;
  const list = (): Match[] => {
    const filters: Match[] = [];
    while (reader.offset < end) filters.push(readFilter(reader));
    return filters;
  };
  switch (type) {
    case SearchFilter.and: {
      const filters = list();
      return (entry) => allOf(filters.map((matches) => matches(entry)));
    }
    case SearchFilter.or: {
      const filters = list();
      return (entry) => negated(allOf(filters.map((matches) => negated(matches(entry)))));
    }
    case SearchFilter.not: {
      const [matches] = list();
      return (entry) => negated(matches?.(entry));
    }
    case SearchFilter.present: {
      const attribute = reader.buffer.toString('utf8', reader.offset, end);
      reader.offset = end;
      return (entry) => entry.has(attribute);
    }
    case SearchFilter.equalityMatch: {
      const attribute = reader.readString() ?? '';
      const value = Buffer.from(reader.readString(OCTET_STRING, true) ?? '');
      return (entry) => entry.equals(attribute, value);
    }
    case SearchFilter.extensibleMatch:
      return readExtensible(reader, end);
    default:
      reader.offset = end;
      return () => undefined;
  }
}

function readExtensible(reader: BerReader, end: number): Match {
  const fields = new Map<number, Buffer>();
  while (reader.offset < end) {
    const tag = reader.peek() ?? 0;
    fields.set(tag, Buffer.from(reader.readString(tag, true) ?? ''));
  }
  const rule = fields.get(0x81)?.toString() ?? '';
  const attribute = fields.get(0x82)?.toString() ?? '';
  const value = fields.get(0x83) ?? Buffer.alloc(0);
  return (entry) => entry.equals(attribute, value, rule);
}

function allOf(results: readonly (boolean | undefined)[]): boolean | undefined {
  if (results.includes(false)) return false;
  return results.includes(undefined) ? undefined : true;
}

function negated(result: boolean | undefined): boolean | undefined {
  return result === undefined ? undefined : !result;
}
