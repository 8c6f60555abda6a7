// JSON as Go's encoding/json writes it.

/** Escapes the characters of a JSON text that Go escapes, because they are special in HTML and JavaScript. */
export function goEscaped(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
