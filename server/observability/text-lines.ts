import type { DestinationStream } from 'pino';

/** Turns the logger's JSON lines into text for people: `12:30:01.250 INFO  message key=value`. */
export function textLines(output: DestinationStream): DestinationStream {
  return { write: (line) => output.write(toText(line)) };
}

function toText(line: string): string {
  const members = new Map(Object.entries(JSON.parse(line)));
  const take = (name: string): unknown => {
    const value = members.get(name);
    members.delete(name);
    return value;
  };
  const clock = word(take('time')).slice(11, 23);
  const level = word(take('level')).toUpperCase().padEnd(5);
  const message = word(take('message'));
  const error = take('err');
  const pairs = [...members].map(([key, value]) => ` ${key}=${scalar(value)}`);
  const reasons = messages(error).map((reason) => ` err=${scalar(reason)}`);
  return `${clock} ${level} ${message}${pairs.join('')}${reasons.join('')}\n${stack(error)}`;
}

/** Of an error and its causes, as the logger describes them. */
function messages(error: unknown): string[] {
  if (typeof error !== 'object' || error === null || !('message' in error)) return [];
  return [word(error.message), ...messages('cause' in error ? error.cause : undefined)];
}

function stack(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error)) return '';
  return `${word(error.stack).replaceAll(/^/gm, '    ')}\n`;
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function scalar(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value) && value !== '' ? value : JSON.stringify(value);
}
