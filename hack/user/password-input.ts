import { text } from 'node:stream/consumers';
import { StoppedError } from '../system/stop-signal.ts';

/** A terminal, or what stands in its place. */
export interface PasswordSource extends AsyncIterable<string | Buffer> {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  pause?(): unknown;
}

/** At a terminal it is asked for twice, without echo; otherwise it is all of the input, without one line end. */
export async function readPassword(source: PasswordSource, prompt: (text: string) => void): Promise<string> {
  if (source.isTTY !== true) return (await text(source)).replace(/\r?\n$/, '');
  source.setRawMode?.(true);
  try {
    const keys = typed(source);
    const first = await readLine(keys, 'New password: ', prompt);
    const second = await readLine(keys, 'Once more: ', prompt);
    if (first !== second) throw new Error('the two passwords differ');
    return first;
  } finally {
    source.setRawMode?.(false);
    source.pause?.();
  }
}

async function readLine(
  keys: AsyncIterator<string>,
  question: string,
  prompt: (text: string) => void,
): Promise<string> {
  prompt(question);
  const characters: string[] = [];
  for (let key = await keys.next(); key.done !== true; key = await keys.next()) {
    switch (key.value) {
      case '\r':
      case '\n':
        prompt('\n');
        return characters.join('');
      // Ctrl-C.
      case '\u0003':
        prompt('\n');
        throw new StoppedError('SIGINT');
      case '\u0004':
        prompt('\n');
        if (characters.length === 0) throw new Error('no password was given');
        return characters.join('');
      case '\u007f':
      case '\b':
        characters.pop();
        break;
      case '\u0015':
        characters.length = 0;
        break;
      default:
        characters.push(key.value);
    }
  }
  throw new Error('no password was given');
}

/** One character at a time, also of what was pasted; keys that are no characters (arrows and the like) are left out. */
async function* typed(source: PasswordSource): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of source) {
    const input = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    // oxlint-disable-next-line no-control-regex -- a terminal's escape sequences begin with one
    yield* Array.from(input.replaceAll(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.)?/g, ''));
  }
}
