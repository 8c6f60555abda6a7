/** An error for the user; `message` is one line that says what to do. */
export class LoginError extends Error {}
