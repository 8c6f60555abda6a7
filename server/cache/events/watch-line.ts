// A line of a watch: an object between what tells the type of the event and the end of the line.
import type { WatchEventType } from './watch-event.ts';

type LineType = WatchEventType | 'BOOKMARK' | 'ERROR';

/** What stands before the object. */
export const LINE_STARTS: Readonly<Record<LineType, Buffer>> = {
  ADDED: start('ADDED'),
  MODIFIED: start('MODIFIED'),
  DELETED: start('DELETED'),
  BOOKMARK: start('BOOKMARK'),
  ERROR: start('ERROR'),
};

/** What stands behind it. */
export const LINE_END = Buffer.from('}\n');

/** The line for an object, whose bytes it copies. */
export function line(type: LineType, object: Buffer): Buffer {
  return Buffer.concat([LINE_STARTS[type], object, LINE_END]);
}

function start(type: LineType): Buffer {
  return Buffer.from(`{"type":"${type}","object":`);
}
