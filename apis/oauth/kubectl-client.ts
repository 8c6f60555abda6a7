/** `client_id` of the built-in public client of command-line programs. */
export const KUBECTL_CLIENT = 'kubectl';
