// What may be a label's key or value, and the words in which clients are used to being told what is wrong.

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

function subdomainFaults(value: string): string[] {
  const faults: string[] = [];
  if (Buffer.byteLength(value) > MAX_SUBDOMAIN) faults.push(tooLong(MAX_SUBDOMAIN));
  if (!SUBDOMAIN.test(value)) faults.push(explained(SUBDOMAIN_RULE, SUBDOMAIN_PATTERN, 'example.com'));
  return faults;
}

/** All that is wrong with a label's key; empty when it is a valid one. */
export function labelKeyFaults(key: string): string[] {
  const parts = key.split('/');
  const nameRule = () => explained(NAME_RULE, NAME_PATTERN, 'MyName', 'my.name', '123-abc');
  if (parts.length > 2) {
    return [
      `a valid label key ${nameRule()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const faults: string[] = [];
  if (prefix === '') faults.push('prefix part must be non-empty');
  else if (prefix !== undefined)
    faults.push(...subdomainFaults(prefix).map((fault) => `prefix part ${fault}`));
  if (name === '') faults.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > MAX_NAME) faults.push(`name part ${tooLong(MAX_NAME)}`);
  if (!NAME.test(name)) faults.push(`name part ${nameRule()}`);
  return faults;
}

/** All that is wrong with a label's value; empty when it is a valid one, as the empty string is. */
export function labelValueFaults(value: string): string[] {
  const faults: string[] = [];
  if (Buffer.byteLength(value) > MAX_NAME) faults.push(tooLong(MAX_NAME));
  if (value !== '' && !NAME.test(value)) {
    const rule = `a valid label must be an empty string or ${NAME_RULE.replace('must consist', 'consist')}`;
    faults.push(explained(rule, `(${NAME_PATTERN})?`, 'MyValue', 'my_value', '12345'));
  }
  return faults;
}
