// Formats the age of an object as kubectl does, for instance `5d3h`.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

function pair(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
}

/** Formats a duration in ms with the units and precision of kube-apiserver's printers, for example `5d3h`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  // The clocks of two machines can differ, so an age down to -1 s counts as 0 s.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.floor(seconds / MINUTE);
  if (seconds < 10 * MINUTE) return pair(minutes, 'm', seconds % MINUTE, 's');
  if (seconds < 3 * HOUR) return `${minutes}m`;
  const hours = Math.floor(seconds / HOUR);
  if (seconds < 8 * HOUR) return pair(hours, 'h', minutes % 60, 'm');
  if (seconds < 2 * DAY) return `${hours}h`;
  const days = Math.floor(seconds / DAY);
  if (seconds < 8 * DAY) return pair(days, 'd', hours % 24, 'h');
  if (seconds < 2 * YEAR) return `${days}d`;
  const years = Math.floor(seconds / YEAR);
  return seconds < 8 * YEAR ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

/** Returns the age of an object created at a time in seconds since the epoch; `<unknown>` for 0. */
export function ageSince(createdAt: number, now: Date): string {
  return createdAt === 0 ? '<unknown>' : humanDuration(now.getTime() - createdAt * 1000);
}
