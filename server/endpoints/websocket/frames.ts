// The frames of a WebSocket (RFC 6455, section 5): those that a server writes, and what of a client's it has to know.
// Messages of clients are passed over, whatever their length, since nobody here listens to them.

const FINAL = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;
const OPCODES: ReadonlySet<number> = new Set([0x0, TEXT, 0x2, CLOSE, PING, PONG]);
/** Lengths that say how many bytes behind them hold the length. */
const TWO_BYTES = 126;
const EIGHT_BYTES = 127;
const MASK_BYTES = 4;

const NOTHING = Buffer.alloc(0);

/** Of section 7.4.1. */
export type CloseCode = 1000 | 1002;

/** What stands in front of a text of so many bytes. */
export function textHead(length: number): Buffer {
  if (length < TWO_BYTES) return Buffer.from([FINAL | TEXT, length]);
  if (length < 2 ** 16) {
    const head = Buffer.from([FINAL | TEXT, TWO_BYTES, 0, 0]);
    head.writeUInt16BE(length, 2);
    return head;
  }
  const head = Buffer.alloc(10);
  head.set([FINAL | TEXT, EIGHT_BYTES]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

export function closeFrame(code: CloseCode): Buffer {
  const frame = Buffer.from([FINAL | CLOSE, 2, 0, 0]);
  frame.writeUInt16BE(code, 2);
  return frame;
}

export function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([FINAL | PONG, payload.length]), payload]);
}

export interface ControlFrame {
  readonly kind: 'close' | 'ping' | 'pong';
  readonly payload: Buffer;
}

interface Head {
  readonly opcode: number;
  /** Bytes of the head itself; its last four are the mask. */
  readonly size: number;
  /** Bytes of the payload. */
  readonly length: number;
}

/** Takes what a client sends apart. It holds no more than one control frame. */
export class FrameReader {
  #begun: Buffer = NOTHING;
  #passedOver = 0;

  /** The control frames that `data` completes. Throws an Error for what no client may send. */
  *read(data: Buffer): Generator<ControlFrame> {
    let rest = this.#begun.length === 0 ? data : Buffer.concat([this.#begun, data]);
    this.#begun = NOTHING;
    for (;;) {
      const over = Math.min(this.#passedOver, rest.length);
      this.#passedOver -= over;
      rest = rest.subarray(over);
      const head = headOf(rest);
      if (!head) break;
      if (isControl(head.opcode)) {
        if (rest.length < head.size + head.length) break;
        yield { kind: kindOf(head.opcode), payload: payloadOf(rest, head) };
        rest = rest.subarray(head.size + head.length);
      } else {
        this.#passedOver = head.length;
        rest = rest.subarray(head.size);
      }
    }
    this.#begun = Buffer.from(rest);
  }
}

function isControl(opcode: number): boolean {
  return opcode >= CLOSE;
}

function kindOf(opcode: number): ControlFrame['kind'] {
  if (opcode === CLOSE) return 'close';
  return opcode === PING ? 'ping' : 'pong';
}

/** Undefined while it is not whole. */
function headOf(bytes: Buffer): Head | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const opcode = first & 0x0f;
  const short = second & 0x7f;
  if ((first & RESERVED) !== 0 || !OPCODES.has(opcode))
    throw new Error('a frame of no kind that was agreed on');
  if ((second & MASKED) === 0) throw new Error('a frame of a client without a mask');
  if (isControl(opcode) && (short >= TWO_BYTES || (first & FINAL) === 0)) {
    throw new Error('a control frame that is too long, or in parts');
  }
  const extended = short === TWO_BYTES ? 2 : short === EIGHT_BYTES ? 8 : 0;
  const size = 2 + extended + MASK_BYTES;
  if (bytes.length < size) return undefined;
  if (extended === 0) return { opcode, size, length: short };
  const length = extended === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (!Number.isSafeInteger(length)) throw new Error('a frame that never ends');
  return { opcode, size, length };
}

function payloadOf(bytes: Buffer, { size, length }: Head): Buffer {
  const mask = bytes.subarray(size - MASK_BYTES, size);
  const payload = Buffer.from(bytes.subarray(size, size + length));
  for (let i = 0; i < length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % MASK_BYTES] ?? 0);
  return payload;
}
