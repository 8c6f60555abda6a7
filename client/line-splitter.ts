// LineSplitter: the lines of a text that arrives in pieces. A line has a maximum length.

const MAX_LINE = 128 * 1024 * 1024;

export class LineSplitter {
  readonly #end: RegExp | string;
  readonly #max: number;
  /** Pieces of a line without its end: joined once, because a long line arrives in many pieces. */
  #pieces: string[] = [];
  #length = 0;
  #afterReturn = false;

  /** Lines end with a newline; with `carriageReturns` also with CR and CRLF. */
  constructor({ carriageReturns = false, max = MAX_LINE } = {}) {
    this.#end = carriageReturns ? /\r\n|\r|\n/ : '\n';
    this.#max = max;
  }

  /** Takes the next piece. Returns the lines that it completes. */
  push(piece: string): string[] {
    if (piece === '') return [];
    // CRLF is one end of a line, also across two pieces.
    const text = this.#afterReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    this.#afterReturn = this.#end !== '\n' && piece.endsWith('\r');
    const lines = text.split(this.#end);
    const last = lines.pop() ?? '';
    const [first] = lines;
    if (first !== undefined) lines[0] = this.rest() + first;
    this.#pieces.push(last);
    this.#length += last.length;
    if (this.#length > this.#max) throw new Error(`a line has more than ${this.#max} characters`);
    return lines;
  }

  /** The begin of a line whose end has not arrived. */
  rest(): string {
    const rest = this.#pieces.join('');
    this.#pieces = [];
    this.#length = 0;
    return rest;
  }
}

/** The lines of a body in UTF-8. With `complete`, without a last line that has no end. */
export async function* linesIn(
  chunks: AsyncIterable<Uint8Array>,
  { complete = false } = {},
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const splitter = new LineSplitter();
  for await (const chunk of chunks) yield* splitter.push(decoder.decode(chunk, { stream: true }));
  const last = splitter.rest() + decoder.decode();
  if (last !== '' && !complete) yield last;
}
