// LogExport: a file of log lines as a stream. The marker with which the server ends an incomplete file is found while
// the bytes pass; only the begin of the current line is kept.
import type { LogParameters, LogQueryAnswer } from './generated/platform.ts';

/** What is missing in a result, and why. */
export type Shortfall = NonNullable<LogQueryAnswer['partial']>[number];
type Format = NonNullable<LogParameters['format']>;

export interface LogExport {
  /** Name of the file, as proposed by the server. */
  readonly name: string;
  /** The bytes of the file. The stream fails if the connection ends before the file. */
  readonly body: ReadableStream<Uint8Array>;
  /** Whether the whole file was read, and the server has not marked it as incomplete. */
  complete(): boolean;
  /** Reasons why the file is incomplete, as far as it was read. */
  shortfalls(): readonly Shortfall[];
}

/** The file in a response. `chunks`: its body. */
export function fileOf(
  response: Response,
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  format: Format,
): LogExport {
  const markers = new Markers(format);
  let isWhole = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) {
        isWhole = true;
        controller.close();
      } else {
        markers.push(value);
        controller.enqueue(value);
      }
    },
    async cancel() {
      await chunks.return();
    },
  });
  return {
    name: nameIn(response.headers) ?? fileNameOf(format),
    body,
    complete: () => isWhole && markers.shortfalls.length === 0,
    shortfalls: () => markers.shortfalls,
  };
}

export function fileNameOf(format: Format): string {
  return `logs.${format === 'text' ? 'log' : format}`;
}

function nameIn(headers: Headers): string | undefined {
  return /filename="([\w.-]+)"/.exec(headers.get('Content-Disposition') ?? '')?.[1];
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
/** A marker is shorter than this; the rest of a line is not kept. */
const MAX_MARKER = 4096;

/** Finds markers in the bytes of a file. */
class Markers {
  readonly shortfalls: Shortfall[] = [];
  readonly #format: Format;
  readonly #line = new Uint8Array(MAX_MARKER);
  #length = 0;
  /** A cell of CSV in quotes can contain newlines. */
  #isQuoted = false;

  constructor(format: Format) {
    this.#format = format;
  }

  push(chunk: Uint8Array): void {
    let begin = 0;
    for (let end = this.#endOfLine(chunk, 0); end !== -1; end = this.#endOfLine(chunk, begin)) {
      this.#keep(chunk.subarray(begin, end));
      this.#endLine();
      begin = end + 1;
    }
    this.#keep(chunk.subarray(begin));
  }

  /** The next newline outside of quotes, or -1. */
  #endOfLine(chunk: Uint8Array, begin: number): number {
    if (this.#format !== 'csv') return chunk.indexOf(NEWLINE, begin);
    for (let at = begin; at < chunk.length; at++) {
      if (chunk[at] === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (chunk[at] === NEWLINE && !this.#isQuoted) return at;
    }
    return -1;
  }

  #keep(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, MAX_MARKER - this.#length);
    this.#line.set(kept, this.#length);
    this.#length += kept.length;
  }

  #endLine(): void {
    const line = this.#line.subarray(0, this.#length);
    this.#length = 0;
    // The first byte tells most lines from a marker, without decoding them.
    if (line[0] !== FIRST_BYTES[this.#format]) return;
    const shortfall = MARKERS[this.#format](new TextDecoder().decode(line));
    if (shortfall !== undefined) this.shortfalls.push(shortfall);
  }
}

const FIRST_BYTES: Readonly<Record<Format, number>> = { text: 4, csv: 0x49, ndjson: 0x7b, json: 0x7b };

/** The shortfall of a line that is a marker: docs/log-export-and-follow.md. */
const MARKERS: Readonly<Record<Format, (line: string) => Shortfall | undefined>> = {
  text: (line) => shortfallOf(line.slice(' incomplete: '.length + 1)),
  csv: (line) => {
    const [, message] = /^INCOMPLETE,,,,"?(.*?)"?\r?$/s.exec(line) ?? [];
    return message === undefined ? undefined : shortfallOf(message.replaceAll('""', '"'));
  },
  ndjson: inJSON,
  json: inJSON,
};

/** Records begin with another member, and can be longer than MAX_MARKER. */
function inJSON(line: string): Shortfall | undefined {
  if (!line.startsWith('{"error":')) return undefined;
  try {
    return (JSON.parse(line.replace(/,$/, '')) as { error: Shortfall }).error;
  } catch {
    return { reason: 'StoreFailed', message: line };
  }
}

/** `reason: message` */
function shortfallOf(text: string): Shortfall {
  const [, reason = '', message = text] = /^(\w+): (.*)$/s.exec(text) ?? [];
  return { reason: reason as Shortfall['reason'], message };
}
