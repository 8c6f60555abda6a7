// Reads a password from a terminal, a pipe or a file.
import { text } from 'node:stream/consumers';

/** Ctrl-C at a prompt. */
export class InterruptedError extends Error {}

/** Standard input: a terminal, or a pipe or file. */
export interface PasswordSource extends AsyncIterable<string | Buffer> {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  pause?(): unknown;
}

/** Prompts twice without echo on a terminal. Otherwise reads the whole input, without one trailing newline. */
export async function readPassword(source: PasswordSource, prompt: (text: string) => void): Promise<string> {
  if (source.isTTY !== true) {
    const password = (await text(source)).replace(/\r?\n$/, '');
    if (password !== '') return password;
    throw new Error(
      'no password was given: standard input is empty. For a prompt, run the command in a terminal, in a pod with kubectl exec -it',
    );
  }
  source.setRawMode?.(true);
  try {
    const keys = typed(source);
    const first = await readLine(keys, 'New password: ', prompt);
    const second = await readLine(keys, 'Repeat new password: ', prompt);
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
        throw new InterruptedError();
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

/** Typed and pasted characters. Drops escape sequences of keys such as arrows. */
async function* typed(source: PasswordSource): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of source) {
    const input = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    // oxlint-disable-next-line no-control-regex -- escape sequences begin with a control character
    yield* Array.from(input.replaceAll(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.)?/g, ''));
  }
}
