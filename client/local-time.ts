// Times in the time zone of the user.

/** The local time, as in inputs: `2026-01-31T12:03:04.567`. */
export function localTime(time: string | number): string {
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

/** The local time, with the date unless it is today: `12:03:04.567`, `2026-01-31 12:03:04.567`. */
export function clockOf(time: string | number): string {
  const [date = '', clock = ''] = localTime(time).split('T');
  return localTime(Date.now()).startsWith(date) ? clock : `${date} ${clock}`;
}
