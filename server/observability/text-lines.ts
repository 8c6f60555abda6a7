import type { DestinationStream } from 'pino';
import { record, text } from '../../apis/reading/unknown-value.ts';
import { printableLines } from './printable-text.ts';

/** Formats the JSON lines of the logger as text for terminals: `12:30:01.250 INFO  message key=value`. */
export function textLines(output: DestinationStream): DestinationStream {
  return { write: (line) => output.write(printableLines(toText(line))) };
}

function toText(line: string): string {
  const members = new Map(Object.entries(JSON.parse(line)));
  const take = (name: string): unknown => {
    const value = members.get(name);
    members.delete(name);
    return value;
  };
  const clock = text(take('time')).slice(11, 23);
  const level = text(take('level')).toUpperCase().padEnd(5);
  const message = text(take('message'));
  const error = take('err');
  const pairs = [...members].map(([key, value]) => ` ${key}=${scalar(value)}`);
  const reasons = messages(error).map((reason) => ` err=${scalar(reason)}`);
  return `${clock} ${level} ${message}${pairs.join('')}${reasons.join('')}\n${stackOf(error)}`;
}

/** The messages of an error and its causes. */
function messages(error: unknown): string[] {
  const { message, cause } = record(error);
  return message === undefined ? [] : [text(message), ...messages(cause)];
}

function stackOf(error: unknown): string {
  const { stack } = record(error);
  return stack === undefined ? '' : `${text(stack).replaceAll(/^/gm, '    ')}\n`;
}

function scalar(value: unknown): string {
  return typeof value === 'string' && !/[\s"=\p{Cc}]/u.test(value) && value !== ''
    ? value
    : JSON.stringify(value);
}
