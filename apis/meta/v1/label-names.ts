// Validates label keys and values, with the messages of kube-apiserver.

const NAME = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const SUBDOMAIN_PATTERN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const MAX_NAME = 63;
const MAX_SUBDOMAIN = 253;

function explained(rule: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const tooLong = (bytes: number): string => `must be no more than ${bytes} bytes`;

function subdomainErrors(value: string): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(value) > MAX_SUBDOMAIN) errors.push(tooLong(MAX_SUBDOMAIN));
  if (!SUBDOMAIN.test(value)) errors.push(explained(SUBDOMAIN_RULE, SUBDOMAIN_PATTERN, 'example.com'));
  return errors;
}

/** Returns all validation errors of a label key; none for a valid key. */
export function labelKeyErrors(key: string): string[] {
  const parts = key.split('/');
  const nameRule = () => explained(NAME_RULE, NAME_PATTERN, 'MyName', 'my.name', '123-abc');
  if (parts.length > 2) {
    return [
      `a valid label key ${nameRule()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const errors: string[] = [];
  if (prefix === '') errors.push('prefix part must be non-empty');
  else if (prefix !== undefined)
    errors.push(...subdomainErrors(prefix).map((error) => `prefix part ${error}`));
  if (name === '') errors.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > MAX_NAME) errors.push(`name part ${tooLong(MAX_NAME)}`);
  if (!NAME.test(name)) errors.push(`name part ${nameRule()}`);
  return errors;
}

/** Returns all validation errors of a label value; none for a valid value. The empty string is valid. */
export function labelValueErrors(value: string): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(value) > MAX_NAME) errors.push(tooLong(MAX_NAME));
  if (value !== '' && !NAME.test(value)) {
    const rule = `a valid label must be an empty string or ${NAME_RULE.replace('must consist', 'consist')}`;
    errors.push(explained(rule, `(${NAME_PATTERN})?`, 'MyValue', 'my_value', '12345'));
  }
  return errors;
}
