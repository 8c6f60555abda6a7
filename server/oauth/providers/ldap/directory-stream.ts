// The messages of a directory, one at a time: each reaches ldapts only after its structure has been checked, because ldapts reads a
// truncated element without end. Their size and the number of their elements are bounded.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { ByteChunks } from '../../../../apis/reading/byte-chunks.ts';
import { messageLength } from './directory-connection.ts';

/** Enough for ten thousand groups with long names. */
const MAX_BYTES = 16 << 20;
/** More than those of 20,000 groups. An empty element has two bytes, but takes a hundred in memory. */
const MAX_ELEMENTS = 250_000;
/** Of one message, which is read in one turn of the event loop: an entry with 20,000 values has fewer. */
const MAX_MESSAGE_ELEMENTS = 50_000;

const INTEGER = 0x02;
const TEXT = 0x04;
const SEQUENCE = 0x30;
const SET = 0x31;
const SEARCH_ENTRY = 0x64;
const SEARCH_REFERENCE = 0x73;
const CONTROLS = 0xa0;

/** The tags in a control (RFC 4511, 4.1.11): type, criticality, value. */
const CONTROL = /^4(,1)?(,4)?$/;

export class DirectoryStream extends Duplex {
  // What ldapts reads of a socket.
  readonly connecting = false;
  readonly readyState = 'open';
  readonly #socket: Socket;
  /** The bytes of the current message. */
  readonly #pending = new ByteChunks();
  /** The length of the current message, when it is known. */
  #wanted: number | undefined;
  #bytes = 0;
  #elements = 0;

  /** `socket`: connected. Closing one of both closes the other. */
  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('error', (error) => this.destroy(error)).on('close', () => this.destroy());
    socket.on('end', () => this.destroy());
    socket.on('data', (chunk: Buffer) => {
      try {
        if (!this.destroyed) this.#receive(chunk);
      } catch {
        this.destroy();
      }
    });
  }

  override _read(): void {
    // The socket flows: it is read as far as the bounds allow.
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  /** Throws for bytes beyond the limits, and for bytes that are not LDAP. */
  #receive(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw new Error('the responses are too long');
    this.#pending.add(chunk);
    while (this.#pending.length >= (this.#wanted ?? 2)) {
      const chunks = this.#pending.take();
      const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      this.#wanted = messageLength(bytes);
      if (this.#wanted === undefined || bytes.length < this.#wanted) {
        this.#pending.add(bytes);
        return;
      }
      const message = bytes.subarray(0, this.#wanted);
      this.#elements += elementsOf(message);
      if (this.#elements > MAX_ELEMENTS) throw new Error('the responses have too many elements');
      this.#pending.add(bytes.subarray(this.#wanted));
      this.#wanted = undefined;
      this.push(message);
    }
  }
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** Checks all elements that ldapts reads in loops (RFC 4511, 4.1.1), and returns the number of all. */
function elementsOf(bytes: Buffer): number {
  let count = 0;
  const within = (content: Buffer): Element[] => {
    const elements: Element[] = [];
    for (let at = 0; at < content.length; ) {
      if (++count > MAX_MESSAGE_ELEMENTS) throw new Error('the message has too many elements');
      const { element, end } = elementAt(content, at);
      elements.push(element);
      at = end;
    }
    return elements;
  };
  /** The elements of one that has these tags. */
  const partsOf = ({ content }: Element, tags: (all: readonly number[]) => boolean): readonly Element[] => {
    const elements = within(content);
    if (!tags(elements.map(({ tag }) => tag))) throw new Error('the response is not LDAP');
    return elements;
  };

  const { element: message } = elementAt(bytes, 0);
  const [, operation, controls] = partsOf(
    message,
    ([id, , more, ...others]) => id === INTEGER && (more ?? CONTROLS) === CONTROLS && others.length === 0,
  );
  if (!operation) throw new Error('the message has no operation');
  if (operation.tag === SEARCH_ENTRY) {
    const [, attributes] = partsOf(operation, (tags) => tags.join() === `${TEXT},${SEQUENCE}`);
    for (const attribute of attributes ? partsOf(attributes, only(SEQUENCE)) : []) {
      const [, values] = partsOf(attribute, (tags) => tags.join() === `${TEXT},${SET}`);
      if (values) partsOf(values, only(TEXT));
    }
  } else if (operation.tag === SEARCH_REFERENCE) partsOf(operation, only(TEXT));
  else partsOf(operation, (tags) => !tags.includes(CONTROLS));
  for (const control of controls ? partsOf(controls, only(SEQUENCE)) : []) {
    partsOf(control, (tags) => CONTROL.test(tags.join()));
  }
  return count;
}

function only(wanted: number): (tags: readonly number[]) => boolean {
  return (tags) => tags.every((tag) => tag === wanted);
}

/** Throws for an element that is longer than the one that contains it. */
function elementAt(bytes: Buffer, at: number): { readonly element: Element; readonly end: number } {
  const [tag = 0, first = 0x80] = bytes.subarray(at, at + 2);
  const octets = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + octets;
  const isLong = first >= 0x80;
  if ((isLong && (octets === 0 || octets > 4)) || start > bytes.length) {
    throw new Error('the length of an element is not LDAP');
  }
  const end = start + (isLong ? bytes.readUIntBE(at + 2, octets) : first);
  if (end > bytes.length) throw new Error('an element is truncated');
  return { element: { tag, content: bytes.subarray(start, end) }, end };
}
