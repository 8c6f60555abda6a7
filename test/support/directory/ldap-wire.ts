// Messages of LDAP (RFC 4511) as a server reads and writes them, with the BER classes of ldapts.
import { Attribute, BerReader, BerWriter, PagedResultsControl, ProtocolOperation } from 'ldapts';
import { type Match, readFilter } from './ldap-filter.ts';

export interface SearchRequest {
  readonly base: string;
  readonly scope: 'base' | 'one' | 'sub';
  /** 0: none. */
  readonly sizeLimit: number;
  readonly matches: Match;
  readonly attributes: readonly string[];
  readonly page: { readonly size: number; readonly cookie?: Buffer } | undefined;
}

export type LDAPRequest = { readonly id: number } & (
  | { readonly operation: 'bind'; readonly name: string; readonly password: string }
  | ({ readonly operation: 'search' } & SearchRequest)
  | { readonly operation: 'startTLS' | 'unbind' | 'unknown' }
);

export interface LDAPResult {
  readonly code: number;
  readonly matchedDN?: string;
  readonly message?: string;
  readonly referral?: string;
}

/** Values of an attribute, with its description as the server sends it. */
export interface SentAttribute {
  readonly type: string;
  readonly values: readonly (string | Buffer)[];
}

/** An entry of a result: its DN and attributes. */
interface SentEntry {
  readonly dn: string;
  readonly attributes: readonly SentAttribute[];
}

const SCOPES = ['base', 'one', 'sub'] as const;
const PASSWORD = 0x80;
const REFERRAL = 0xa3;
const RESPONSE_NAME = 0x8a;
const UNAVAILABLE = 52;
const OCTET_STRING = 0x04;
const BOOLEAN = 0x01;

/** The first request and its length; undefined while it is incomplete. */
export function readRequest(
  bytes: Buffer,
): { readonly request: LDAPRequest; readonly length: number } | undefined {
  const reader = new BerReader(bytes);
  if (reader.readSequence() === null) return undefined;
  const length = reader.offset + reader.length;
  if (bytes.length < length) return undefined;
  reader.setBufferSize(length);
  const id = reader.readInt() ?? 0;
  return { request: { id, ...readOperation(reader) }, length };
}

type Operation = LDAPRequest extends infer Request
  ? Request extends LDAPRequest
    ? Omit<Request, 'id'>
    : never
  : never;

function readOperation(reader: BerReader): Operation {
  switch (reader.readSequence()) {
    case ProtocolOperation.LDAP_REQ_BIND: {
      reader.readInt();
      const name = reader.readString() ?? '';
      return { operation: 'bind', name, password: reader.readString(PASSWORD) ?? '' };
    }
    case ProtocolOperation.LDAP_REQ_SEARCH:
      return { operation: 'search', ...readSearch(reader) };
    case ProtocolOperation.LDAP_REQ_EXTENSION:
      return { operation: 'startTLS' };
    case ProtocolOperation.LDAP_REQ_UNBIND:
      return { operation: 'unbind' };
    default:
      return { operation: 'unknown' };
  }
}

function readSearch(reader: BerReader): SearchRequest {
  const base = reader.readString() ?? '';
  const scope = SCOPES[reader.readEnumeration() ?? 0] ?? 'base';
  reader.readEnumeration();
  const sizeLimit = reader.readInt() ?? 0;
  reader.readInt();
  reader.readBoolean();
  const matches = readFilter(reader);
  const attributes: string[] = [];
  reader.readSequence();
  const end = reader.offset + reader.length;
  while (reader.offset < end) attributes.push(reader.readString() ?? '');
  return { base, scope, sizeLimit, matches, attributes, page: readPage(reader) };
}

function readPage(reader: BerReader): SearchRequest['page'] {
  if (reader.peek() !== ProtocolOperation.LDAP_CONTROLS) return undefined;
  reader.readSequence();
  const end = reader.offset + reader.length;
  while (reader.offset < end) {
    reader.readSequence();
    const oid = reader.readString();
    if (reader.peek() === BOOLEAN) reader.readBoolean();
    const value = reader.readString(OCTET_STRING, true) ?? Buffer.alloc(0);
    if (oid !== PagedResultsControl.type) continue;
    const control = new PagedResultsControl();
    control.parseControl(new BerReader(value));
    return control.value;
  }
  return undefined;
}

function message(id: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  write(writer);
  writer.endSequence();
  return writer.buffer;
}

const RESPONSES = {
  bind: ProtocolOperation.LDAP_RES_BIND,
  search: ProtocolOperation.LDAP_RES_SEARCH,
  startTLS: ProtocolOperation.LDAP_RES_EXTENSION,
} as const;

/** `cookie`: of the next page; empty after the last one. */
export function resultMessage(
  id: number,
  operation: keyof typeof RESPONSES,
  { code, matchedDN = '', message: text = '', referral }: LDAPResult,
  cookie?: Buffer,
): Buffer {
  return message(id, (writer) => {
    writer.startSequence(RESPONSES[operation]);
    writer.writeEnumeration(code);
    writer.writeString(matchedDN);
    writer.writeString(text);
    if (referral !== undefined) {
      writer.startSequence(REFERRAL);
      writer.writeString(referral);
      writer.endSequence();
    }
    writer.endSequence();
    if (!cookie) return;
    writer.startSequence(ProtocolOperation.LDAP_CONTROLS);
    new PagedResultsControl({ value: { size: 0, cookie } }).write(writer);
    writer.endSequence();
  });
}

export function entryMessage(id: number, { dn, attributes }: SentEntry): Buffer {
  return message(id, (writer) => {
    writer.startSequence(ProtocolOperation.LDAP_RES_SEARCH_ENTRY);
    writer.writeString(dn);
    writer.startSequence();
    for (const { type, values } of attributes) {
      new Attribute({ type, values: values.map((value) => Buffer.from(value)) }).write(writer);
    }
    writer.endSequence();
    writer.endSequence();
  });
}

/** A reference to another server. */
export function referenceMessage(id: number, url: string): Buffer {
  return message(id, (writer) => {
    writer.startSequence(ProtocolOperation.LDAP_RES_SEARCH_REF);
    writer.writeString(url);
    writer.endSequence();
  });
}

/** The unsolicited notification of RFC 4511, 4.4.1. */
export function noticeOfDisconnection(): Buffer {
  return message(0, (writer) => {
    writer.startSequence(ProtocolOperation.LDAP_RES_EXTENSION);
    writer.writeEnumeration(UNAVAILABLE);
    writer.writeString('');
    writer.writeString('');
    writer.writeString('1.3.6.1.4.1.1466.20036', RESPONSE_NAME);
    writer.endSequence();
  });
}
