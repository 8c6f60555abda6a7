// Entity tags in requests: whether the client has already what it asks for.

/** RFC 9110, 13.1.2: a list of tags, weak ones compared like strong ones, or `*`. `tag` is quoted, without `W/`. */
export function holdsTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => {
    const candidate = one.trim().replace(/^W\//, '');
    return candidate === '*' || candidate === tag;
  });
}
