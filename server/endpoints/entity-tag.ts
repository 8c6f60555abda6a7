// Entity tags in requests: whether the client has already what it asks for.

/** More tags than any client keeps of one answer; those behind them do not count. */
const MAX_TAGS = 256;

/** RFC 9110, 13.1.2: a list of tags, weak ones compared like strong ones, or `*`. `tag` is quoted, without `W/`. */
export function holdsTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',', MAX_TAGS).some((one) => {
    const candidate = one.trim().replace(/^W\//, '');
    return candidate === '*' || candidate === tag;
  });
}
